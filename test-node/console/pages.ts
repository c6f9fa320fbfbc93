import { build } from 'esbuild'

/** The values of parameters in the paths of pages, which exist in the demo accounts. */
const PARAMETERS: Readonly<Record<string, string>> = {
  account: 'demo-forex',
  affiliate_id: 'IB-07',
  member: 'manager',
  customer_id: 'C-3301',
  plan: 'demo-ib',
  rule: 'lot-churn',
  resource: 'transactions',
  id: 'T-3305',
  // The ids follow from the affiliate, the plan and the period.
  statement_id: 'stm_06d9848e0c96f1d466c5108e',
  line_id: 'lin_06d9848e0c96f1d466c5108e1bb06844cd575cd6',
}

/** The queries with which pages are opened, instead of without one, by their paths. */
const QUERIES: Readonly<Record<string, readonly string[]>> = {
  '/accounts/:account/cases': ['', '?rule=none'],
  '/accounts/:account/find': ['?record_id=IB-07'],
  '/accounts/:account/deliveries': ['?record_id=T-refused-1', '?outcome=refused'],
  '/accounts/:account/customers/:customer_id': ['?period=2026-03'],
  '/accounts/:account/reports': ['?from=2026-03-01&to=2026-03-31&group_by=affiliate_id'],
  '/accounts/:account/statements': ['?period=2026-03'],
  '/accounts/:account/lines/:line_id': ['?customer_id=C-3301'],
  '/accounts/:account/plans': ['', '?new=cpa'],
  '/accounts/:account/plans/:plan': ['', '?edit=next'],
  '/accounts/:account/fraud-rules': ['', '?new=hedge_pair'],
  '/accounts/:account/fraud-rules/:rule': ['', '?edit=next'],
  '/accounts/:account/unearned': ['?period=2026-03', '?period=2026-03&list=records'],
}

/** The pages of what exists in another account than the others. */
const ACCOUNTS: Readonly<Record<string, string>> = {
  '/accounts/:account/cases': 'demo-broker',
  '/accounts/:account/cases/:case_id': 'demo-broker',
}

/** Pages that only the accounts of brands have. */
const OF_BRANDS = ['/console/accounts/demo-brand/mappings?eventname=DailyStats']

let known: Promise<string[]> | undefined

/** Returns the paths of all pages below `/console`. */
export const pagePaths = () => (known ??= readPaths())

async function readPaths(): Promise<string[]> {
  // Node cannot import files with JSX. A build that blocks lets connections to the service end unnoticed.
  const { outputFiles } = await build({
    entryPoints: ['src/console/pages.ts'],
    bundle: true,
    alias: { 'cloudflare:workers': './scripts/runtime.ts' },
    write: false,
    format: 'esm',
    target: 'es2024',
  })
  const source = Buffer.from(outputFiles[0]!.text).toString('base64')
  const { PAGES }: { PAGES: { path: string }[] } = await import(
    `data:text/javascript;base64,${source}`
  )
  return PAGES.map(({ path }) => path)
}

/**
 * Returns the addresses of all pages of the console with the demo accounts. `more` has the values of
 * parameters that are not the same each time.
 */
export async function pageAddresses(more: Readonly<Record<string, string>>): Promise<string[]> {
  const values: Readonly<Record<string, string>> = { ...PARAMETERS, ...more }
  const fill = (text: string, account?: string) => {
    const own: Readonly<Record<string, string>> = { ...values, ...(account && { account }) }
    return text.replace(/:(\w+)/g, (_, name) => own[name] ?? `no-${name.replace('_id', '')}`)
  }
  const filled = (await pagePaths()).flatMap((path) => {
    const address = `/console${fill(path, ACCOUNTS[path])}`
    return (QUERIES[path] ?? ['']).map((query) => address + query)
  })
  return [...filled, ...OF_BRANDS]
}
