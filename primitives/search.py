"""Full-text search over names, aliases, summaries, claims and breaks, kept current by Postgres itself.

A trigger writes three columns of a primitive whenever it, one of its claims or one of its breaks changes:

`search_vector`  what full-text search looks in, names weighted above summaries, breaks and claims
`search_keys`    names, aliases and break numbers with case and punctuation taken away: an exact hit comes first
`search_names`   the same names as plain words, to compare misspelt ones with

The functions `search_words`, `search_joined`, `search_query` and `search_closeness` (migration 0001) see to it that
the document and the question are taken apart in the same way.
"""

import pgtrigger

from evidence.models import Claim

primitive_search_document = pgtrigger.Trigger(
    name="primitive_search_document",
    level=pgtrigger.Row,
    when=pgtrigger.Before,
    operation=pgtrigger.Insert | pgtrigger.Update,
    declare=[("names", "text[]"), ("numbers", "text[]"), ("breaks", "text"), ("claims", "text")],
    func="""
        SELECT coalesce(array_agg(identifier) || array_agg(nickname) FILTER (WHERE nickname <> ''), '{}'),
               coalesce(string_agg(concat_ws(' ', identifier, nickname, summary), ' '), '')
        INTO numbers, breaks FROM primitives_break WHERE primitive_id = NEW.id;
        SELECT coalesce(string_agg(sentence, ' '), '')
        INTO claims FROM evidence_claim WHERE primitive_id = NEW.id;
        names := ARRAY[NEW.name::text, NEW.slug::text] || NEW.aliases::text[];
        NEW.search_keys := ARRAY(
            SELECT DISTINCT replace(search_words(key), ' ', '') FROM unnest(names || numbers) AS key
            WHERE search_words(key) <> ''
        );
        NEW.search_names := search_words(array_to_string(names || numbers, ' '));
        NEW.search_vector :=
            setweight(to_tsvector('simple', search_words(concat_ws(' ', NEW.name, NEW.slug))), 'A')
            || setweight(to_tsvector('english', search_words(concat_ws(' ', NEW.name, NEW.slug))), 'A')
            || setweight(to_tsvector('simple', search_words(array_to_string(NEW.aliases, ' '))), 'B')
            || setweight(to_tsvector('english', search_words(array_to_string(NEW.aliases, ' '))), 'B')
            || setweight(to_tsvector('simple', array_to_string(
                ARRAY(SELECT search_joined(key) FROM unnest(names || numbers) AS key), ' ')), 'B')
            || setweight(to_tsvector('simple', search_joined(NEW.summary || ' ' || breaks)), 'D')
            || setweight(to_tsvector('english', search_words(NEW.summary)), 'B')
            || setweight(to_tsvector('english', search_words(breaks)), 'C')
            || setweight(to_tsvector('english', search_words(claims)), 'D');
        RETURN NEW;
    """,
)


_TOUCH = """
    UPDATE primitives_primitive SET slug = slug WHERE id IN ({});
    RETURN NULL;
"""


def refresh_primitives() -> list[pgtrigger.Trigger]:
    """Triggers for a table whose text is searched and whose column `primitive_id` names the primitive.

    They touch the primitive, whose own trigger then writes its search columns anew. One statement, one refresh, since
    a bulk write of many claims would else write the same primitive as many times.
    """
    rows = {
        pgtrigger.Insert: (pgtrigger.Referencing(new="new_rows"), ["new_rows"]),
        pgtrigger.Update: (pgtrigger.Referencing(old="old_rows", new="new_rows"), ["old_rows", "new_rows"]),
        pgtrigger.Delete: (pgtrigger.Referencing(old="old_rows"), ["old_rows"]),
    }
    return [
        pgtrigger.Trigger(
            name=f"primitive_search_after_{str(operation).lower()}",
            level=pgtrigger.Statement,
            when=pgtrigger.After,
            operation=operation,
            referencing=referencing,
            func=_TOUCH.format(" UNION ".join(f"SELECT primitive_id FROM {name}" for name in names)),  # noqa: S608
        )
        for operation, (referencing, names) in rows.items()
    ]


for _trigger in refresh_primitives():
    pgtrigger.register(_trigger)(Claim)
