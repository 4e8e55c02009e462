"""Before a change of the content commits it waits, so that a process may trust the revision that it was told for half as
long without asking again: a lease (Gray and Cheriton, "Leases", 1989).

Who moves the revision says so first, by a lock that others share, and then waits 20 ms. Who asks for the revision looks
whether somebody has that lock, and only then reads. If nobody has it, then all changes that have committed are in what
is read, and the next one cannot commit for 20 ms: until 10 ms after the question was sent, nobody has to ask again. If
somebody has it, the answer is good for the one question, as is that of a replica, which knows nothing of locks, and of a
transaction that reads what it read before. Each clock measures only how long something took on its own machine.

The wait stands at the table of the revision, so that none moves it without. Of a change it costs 20 ms once, at its end.
"""

from django.db import migrations

MAKE = """
CREATE FUNCTION content_waits() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock_shared(hashtext('sandboxicon.content_moves'));
    PERFORM pg_sleep(0.020);
    RETURN NULL;
END $$;

CREATE TRIGGER content_waits BEFORE INSERT ON content_revision EXECUTE FUNCTION content_waits();

-- The number of the revision, when it moved (microseconds since 1970), and how long that can be trusted, counted from
-- when the question was sent (microseconds). Volatile, so that it reads what is committed after it looked at the lock.
CREATE FUNCTION content_is_at(OUT number bigint, OUT moved_at bigint, OUT trusted integer) VOLATILE LANGUAGE plpgsql AS $$
BEGIN
    trusted := 0;
    IF NOT pg_is_in_recovery() AND current_setting('transaction_isolation') = 'read committed' THEN
        -- The lock is not kept: who takes it from now on waits from now on.
        IF pg_try_advisory_lock(hashtext('sandboxicon.content_moves')) THEN
            PERFORM pg_advisory_unlock(hashtext('sandboxicon.content_moves'));
            trusted := 10000;
        END IF;
    END IF;
    SELECT sum(moves), extract(epoch FROM max(revision.moved_at)) * 1000000 INTO number, moved_at
    FROM content_revision AS revision;
END $$;
"""

UNMAKE = """
DROP FUNCTION content_is_at;
DROP TRIGGER content_waits ON content_revision;
DROP FUNCTION content_waits;
"""


class Migration(migrations.Migration):
    dependencies = [("sandboxicon", "0012_reading_here_and_there_is_cheap")]
    operations = [migrations.RunSQL(MAKE, UNMAKE)]
