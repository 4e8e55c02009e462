"""The functions that take text apart for search, in one way for what is searched and for the question."""

from django.contrib.postgres.operations import CreateExtension, TrigramExtension
from django.db import migrations

# Lower case, one spelling where British and American English differ, everything but letters and digits a space.
SEARCH_WORDS = """
CREATE FUNCTION search_words(value text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT trim(regexp_replace(
        replace(replace(replace(replace(lower(value), 'isation', 'ization'), 'licence', 'license'),
            'behaviour', 'behavior'), 'defence', 'defense'),
        '[^[:alnum:]]+', ' ', 'g'))
$$
"""

# Each two neighbours as one word, and all as one: "user namespaces" is also asked for as "usernamespaces".
SEARCH_JOINED = """
CREATE FUNCTION search_joined(value text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT concat_ws(' ', string_agg(word || next_word, ' '), replace(search_words(value), ' ', ''))
    FROM (
        SELECT word, lead(word) OVER (ORDER BY place) AS next_word
        FROM regexp_split_to_table(search_words(value), ' ') WITH ORDINALITY AS words (word, place)
    ) AS pairs
    WHERE next_word IS NOT NULL
$$
"""

# Every word must be found, as itself or by its stem, the last one also as a beginning; or two neighbours, or all of
# them, written as one word. Words that carry no meaning ("the") are left out unless there is no other.
SEARCH_QUERY = """
CREATE FUNCTION search_query(value text) RETURNS tsquery LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
    words text[] := (
        SELECT array_agg(word ORDER BY place)
        FROM regexp_split_to_table(search_words(value), ' ') WITH ORDINALITY AS words (word, place)
        WHERE word <> '' AND place <= 16
    );
    telling text[] := ARRAY(
        SELECT word FROM unnest(words) WITH ORDINALITY AS words (word, place)
        WHERE to_tsvector('english', word) <> '' ORDER BY place
    );
    terms tsquery[] := '{}';
    term tsquery;
    whole tsquery;
    question tsquery;
    last int;
BEGIN
    IF words IS NULL THEN
        RETURN ''::tsquery;
    END IF;
    IF cardinality(telling) > 0 THEN
        words := telling;
    END IF;
    last := cardinality(words);
    FOR i IN 1..last LOOP
        term := to_tsquery('simple', words[i] || CASE WHEN i = last THEN ':*' ELSE '' END);
        IF to_tsvector('english', words[i]) <> '' THEN
            term := term || plainto_tsquery('english', words[i]);
        END IF;
        terms := terms || term;
        question := CASE WHEN i = 1 THEN term ELSE question && term END;
    END LOOP;
    FOR i IN 1..last - 1 LOOP
        whole := to_tsquery('simple', words[i] || words[i + 1] || CASE WHEN i + 1 = last THEN ':*' ELSE '' END);
        FOR j IN 1..last LOOP
            IF j <> i AND j <> i + 1 THEN
                whole := whole && terms[j];
            END IF;
        END LOOP;
        question := question || whole;
    END LOOP;
    IF last > 2 THEN
        question := question || to_tsquery('simple', array_to_string(words, '') || ':*');
    END IF;
    RETURN question;
END
$$
"""


# How nearly what was typed is one of the names, from 0 to 1: by the letters that differ from a whole name, two swapped
# ones counted as one slip, or by the trigrams shared with a part of all names. The cut keeps to what levenshtein takes.
SEARCH_CLOSENESS = """
CREATE FUNCTION search_closeness(value text, keys text[], names text) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT greatest(
        word_similarity(search_words(value), names),
        (
            SELECT max(1 - (
                levenshtein(typed, left(key, 200)) - CASE
                    WHEN length(typed) = length(key) AND levenshtein(typed, left(key, 200)) = 2
                        AND (SELECT array_agg(letter ORDER BY letter) FROM regexp_split_to_table(typed, '') AS letter)
                            = (SELECT array_agg(letter ORDER BY letter) FROM regexp_split_to_table(key, '') AS letter)
                    THEN 1 ELSE 0
                END
            )::double precision / greatest(length(typed), length(left(key, 200))))
            FROM unnest(keys) AS key, left(replace(search_words(value), ' ', ''), 200) AS typed
            WHERE typed <> '' AND octet_length(typed) < 250 AND octet_length(key) < 250
        )
    )
$$
"""


class Migration(migrations.Migration):
    initial = True
    dependencies: list[tuple[str, str]] = []
    operations = [
        TrigramExtension(),
        CreateExtension("fuzzystrmatch"),
        migrations.RunSQL(SEARCH_WORDS, "DROP FUNCTION search_words(text)"),
        migrations.RunSQL(SEARCH_JOINED, "DROP FUNCTION search_joined(text)"),
        migrations.RunSQL(SEARCH_QUERY, "DROP FUNCTION search_query(text)"),
        migrations.RunSQL(SEARCH_CLOSENESS, "DROP FUNCTION search_closeness(text, text[], text)"),
    ]
