import { buildSync } from 'esbuild'

/** The values of parameters in the paths of pages, which exist in the demo accounts. */
const PARAMETERS: Readonly<Record<string, string>> = { account: 'demo-forex' }

/** Returns the addresses of all pages of the console with the demo accounts. */
export async function pageAddresses(): Promise<string[]> {
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
  return PAGES.map(({ path }) => {
    const filled = path.replace(/:(\w+)/g, (_, name) => PARAMETERS[name] ?? `no-${name}`)
    return `/console${filled}`
  })
}
