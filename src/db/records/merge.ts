/**
 * What a column of the stored record (`t`) becomes when a record is sent again; `said` is what that
 * says of a column. Both are SQL, and what was left out is null.
 */
export type Merge = (column: string, said: (column: string) => string) => string

/** The new record takes the place of the old: what it leaves out is gone. */
export const replaced: Merge = (column, said) => said(column)

/** The same; a record that says no day has that on which it was first received. */
export const replacedOnItsDay: Merge = (column, said) =>
  column === 'day' ? `coalesce(${said('day')}, t.first_day)` : said(column)

/** What a re-send leaves out is kept; where a customer came from is kept or changed as a whole. */
export const augmented: Merge = (column, said) => {
  const tracking = said('tracking_data')
  switch (column) {
    // Two maps of names to JSON texts: RFC 7396 merges them by name, and looks into no value.
    case 'extras':
      return `iif(${said('extras')} is null, t.extras,
        json_patch(coalesce(t.extras, '{}'), ${said('extras')}))`
    case 'link':
      return `iif(${tracking} is null, t.link, ${said('link')})`
    case 'verdict':
      return `iif(${tracking} is null and t.tracking_data is not null, t.verdict,
        coalesce(${said('verdict')}, t.verdict))`
    default:
      return `coalesce(${said(column)}, t.${column})`
  }
}
