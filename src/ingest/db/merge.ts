/**
 * Returns the SQL of what a column becomes when a record is sent again. `sent` returns the SQL of the
 * column as it was sent, null if it was left out; `t` is the stored record.
 */
export type Merge = (column: string, sent: (column: string) => string) => string

/**
 * Replaces `tracking_data` that is erased. It is not null, so a re-send is merged and compared as if the
 * value were still there.
 */
export const ERASED_TRACKING = ''

/**
 * Returns the SQL of what an erasure leaves of a personal column; `toSql` returns that of a column.
 * `tracking_data` stays if the service issued it for the account: any other value is free text.
 */
export const erasedValue = (column: string, toSql: (column: string) => string) =>
  column === 'tracking_data'
    ? `iif(${toSql(column)} is null or ${toSql('verdict')} is 'attributed',
        ${toSql(column)}, '${ERASED_TRACKING}')`
    : 'null'

/** Replaces the stored record as a whole: what the new one leaves out is gone. */
export const replaceAll: Merge = (column, sent) => sent(column)

/** Replaces the stored record; one without a day keeps the day on which it was first received. */
export const replaceKeepingDay: Merge = (column, sent) =>
  column === 'day' ? `coalesce(${sent('day')}, t.first_day)` : sent(column)

/** Keeps what a re-send leaves out. The attribution is kept or replaced as a whole. */
export const keepOmitted: Merge = (column, sent) => {
  const tracking = sent('tracking_data')
  switch (column) {
    // Two maps of names to JSON texts: RFC 7396 merges them by name and looks into no value.
    case 'extras':
      return `iif(${sent('extras')} is null, t.extras,
        json_patch(coalesce(t.extras, '{}'), ${sent('extras')}))`
    case 'link':
      return `iif(${tracking} is null, t.link, ${sent('link')})`
    case 'verdict':
      return `iif(${tracking} is null and t.tracking_data is not null, t.verdict,
        coalesce(${sent('verdict')}, t.verdict))`
    default:
      return `coalesce(${sent(column)}, t.${column})`
  }
}
