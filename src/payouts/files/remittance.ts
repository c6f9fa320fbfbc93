import type { Paid } from '../model.ts'

/** The periods that a payee reads; of more, the first and the last one. */
const NAMED = 7

/** Returns what a payee reads: the reference, who pays, and for which periods. */
export function remittanceOf({ id, statements }: Omit<Paid, 'details'>, firm: string): string {
  const periods = [...new Set(statements.map(({ period }) => period))].sort()
  const named = periods.length > NAMED ? [periods[0], '-', periods.at(-1)] : periods
  return [id, firm, ...named].filter(Boolean).join(' ')
}
