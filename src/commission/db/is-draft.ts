/**
 * Whether a statement is a draft. The second condition follows from the first, but SQLite needs it to
 * use the partial index `statements_status`, which is defined `where status <> 'paid'`.
 *
 * @param status The column, as SQL.
 */
export const isDraft = (status: string): string => `${status} = 'draft' and ${status} <> 'paid'`

/**
 * Whether a period is of the kind of `:period`: a month such as `2026-10`, or a week such as
 * `2026-W41`, which is one character longer.
 *
 * @param period The column, as SQL.
 */
export const isOfKind = (period: string): string => `length(${period}) = length(:period)`
