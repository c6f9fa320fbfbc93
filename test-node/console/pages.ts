import { buildSync } from 'esbuild'

/** The values of parameters in the paths of pages, which exist in the demo accounts. */
const PARAMETERS: Readonly<Record<string, string>> = { account: 'demo-forex', customer: 'C-3301' }

/** Addresses whose query shows more than the page without one. */
const WITH_QUERY = [
  'deliveries?record_id=T-refused-1',
  'deliveries?status=refused',
  'customers/C-3301?period=2026-03',
  'reports?from=2026-03-01&to=2026-03-31&group_by=affiliate_id',
].map((path) => `/console/accounts/demo-forex/${path}`)

/**
 * Returns the addresses of all pages of the console with the demo accounts. `more` has the values of
 * parameters that are not the same each time.
 */
export async function pageAddresses(more: Readonly<Record<string, string>>): Promise<string[]> {
  // Node cannot import files with JSX.
  const { outputFiles } = buildSync({
    entryPoints: ['src/console/pages.ts'],
    bundle: true,
    write: false,
    format: 'esm',
    target: 'es2024',
  })
  const source = Buffer.from(outputFiles[0]!.text).toString('base64')
  const { PAGES }: { PAGES: { path: string }[] } = await import(
    `data:text/javascript;base64,${source}`
  )
  const values: Readonly<Record<string, string>> = { ...PARAMETERS, ...more }
  const addresses = PAGES.map(({ path }) => {
    const filled = path.replace(/:(\w+)/g, (_, name) => values[name] ?? `no-${name}`)
    return `/console${filled}`
  })
  return [...addresses, ...WITH_QUERY]
}
