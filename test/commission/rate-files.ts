import { env } from 'cloudflare:workers'
import { fetchWith } from '../checked-fetch.ts'
import { ask, ORIGIN } from '../partner.ts'
import { overriding } from '../watched.ts'

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
    currency: string
    day: number
    rate: string
    known_from: number
    known_until: number | null
  }>()
  return results
}

/** Imports a file while another import stores one of its rates between each count and write. */
export function putWhileOthersPut(): Promise<Response> {
  const days = ['2026-10-01', '2026-10-02', '2026-10-05', '2026-10-06', '2026-10-07', '2026-10-08']
  const csv = csvOf('Date,USD', ...days.map((day) => `${day},1.5`))
  const DB = overriding(env.DB, {
    batch: async (list: D1PreparedStatement[]) => {
      const results = await env.DB.batch(list)
      await putRates(csvOf('Date,USD', `${days.pop()},1.5`))
      return results
    },
  })
  const request = new Request(`${ORIGIN}/admin/v1/fx-rates`, {
    method: 'PUT',
    headers: { Authorization: `Bearer ${env.ADMIN_KEY}`, 'Content-Type': 'text/csv' },
    body: csv,
  })
  return fetchWith({ ...env, DB } as Env, request)
}
