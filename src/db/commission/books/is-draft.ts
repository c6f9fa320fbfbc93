/**
 * Whether a statement is a draft. The second condition follows from the first, but SQLite needs it to
 * use the partial index `statements_status`, which is defined `where status <> 'paid'`.
 *
 * @param status The column, as SQL.
 */
export const isDraft = (status: string): string => `${status} = 'draft' and ${status} <> 'paid'`
