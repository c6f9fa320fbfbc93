import { env } from 'cloudflare:workers'
import { ask } from '../partner.ts'

/** Imports a file of exchange rates as the integrations team. */
export const putRates = (csv: BodyInit, query = '', headers: Record<string, string> = {}) =>
  ask(`/admin/v1/fx-rates${query}`, {
    method: 'PUT',
    headers: { Authorization: `Bearer ${env.ADMIN_KEY}`, 'Content-Type': 'text/csv', ...headers },
    body: csv,
  })

/** Returns lines as a file. */
export const csvOf = (...lines: string[]) => lines.map((line) => `${line}\n`).join('')

/** A Thursday and a Friday. */
export const TWO_DAYS = csvOf(
  'Date,USD,JPY,HUF',
  '2026-10-02,1.1684,186.75,N/A',
  '2026-10-01,1.1711,186.43,366.9',
)

/** Returns every stored row, in the order of the key. */
export const storedRates = async () => {
  const { results } = await env.DB.prepare('select * from fx_rates').all<{
    day: number
    rates: string
    known_from: number
    known_until: number | null
  }>()
  return results.map(({ rates, ...row }) => ({
    ...row,
    rates: JSON.parse(rates) as Record<string, string>,
  }))
}
