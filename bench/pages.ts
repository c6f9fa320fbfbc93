import { expectOk, newRequestSender } from '../chaos/ask.ts'
import { type Service, takeRows } from '../chaos/service.ts'
import { cpuOf } from '../chaos/workerd.ts'
import { beside, type Figure, format, median, type Table } from './print.ts'

/** How often each page is shown. */
const VIEWS = 5

const OVERVIEW = 'overview of an account'

/** Returns the figures of the overview beside their aims. */
export function pageAims([head = [], ...rows]: Table): Figure[] {
  const [, ...values] = rows.find(([name]) => name === OVERVIEW) ?? []
  const [, ...titles] = head
  const aims = ['10', '2,000', '30']
  return beside(
    ...titles.map((title, i) => [`${title}: ${OVERVIEW}`, values[i]!, aims[i]!] as const),
  )
}

/** Returns a function that reads pages of the console, with the key of the integrations team. */
export async function signIn(service: Service, key: string) {
  const ask = newRequestSender(service)
  const own = { Origin: service.url.origin, 'Sec-Fetch-Site': 'same-origin' }
  const body = new URLSearchParams({ key, next: '/console' })
  const { headers } = await ask('POST', 'console/sign-in', { body, headers: own })
  const Cookie = headers
    .getSetCookie()
    .map((one) => one.split(';')[0])
    .join('; ')
  return (path: string) => expectOk(ask('GET', path, { headers: { Cookie } }))
}

/** Measures what showing pages of an account uses, all of their parts included. */
export async function pages(
  service: Service,
  { key, account, affiliate }: { key: string; account: string; affiliate: string },
): Promise<Table> {
  const read = await signIn(service, key)
  const at = `console/accounts/${account}`
  const { affiliate_key } = await expectOk(
    service.admin('POST', `accounts/${account}/affiliates/${affiliate}/keys`, {
      body: { name: 'Bench' },
    }),
  )
  const headers = { Authorization: `Bearer ${affiliate_key}` }
  const asAffiliate = (path: string) =>
    expectOk(newRequestSender(service, headers, '/affiliate/v1/')('GET', path))
  const shown: Record<string, () => Promise<unknown>> = {
    [OVERVIEW]: () => read(at),
    payouts: () => read(`${at}/payouts`),
    'an affiliate': () => read(`${at}/affiliates/${affiliate}`),
    'overview of the portal': () => asAffiliate('overview?from=2026-03-01&to=2026-03-31'),
  }
  const rows: string[][] = []
  for (const [name, show] of Object.entries(shown)) {
    const cpu: number[] = []
    let used = await takeRows(service)
    for (let i = 0; i < VIEWS; i++) {
      await takeRows(service)
      const before = cpuOf(service.pids)
      await show()
      cpu.push(cpuOf(service.pids) - before)
      used = await takeRows(service)
    }
    rows.push([name, format(used.calls), format(used.read), format(median(cpu))])
  }
  return [['a page', 'calls', 'rows read', 'CPU-ms'], ...rows]
}
