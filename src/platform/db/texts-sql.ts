/**
 * A JSON column that is compared member by member, because the stored text can differ from the sent one
 * in order. Members in the column `numbers` and `others` are compared by value only.
 */
export interface TextColumn {
  readonly column: string
  readonly numbers: string
  readonly others: readonly string[]
}

/** Returns an `or` with the condition that the texts in `textColumn` differ; '' without such a column. */
export function orTextsDiffer(
  textColumn: TextColumn | null,
  sent: (name: string) => string,
): string {
  if (!textColumn) return ''
  const { column, numbers, others } = textColumn
  // The JSON is in a query of its own: beside `json_each`, `value` would be one of its columns.
  const texts = (json: string) => `select m.key, m.value
              from (select ${json} as members) cross join json_each(members) m
              where m.type = 'text' and m.key not in (${others.map((name) => `'${name}'`).join()})
                and m.key not in (select key from json_each(t.${numbers}))`
  const [next, before] = [texts(sent(column)), texts(`t.${column}`)]
  // Most replays have the same bytes.
  return `or iif(${sent(column)} is t.${column}, 0,
            exists (${next} except ${before}) or exists (${before} except ${next}))`
}
