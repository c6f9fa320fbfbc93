/** Returns the names of the next databases of a jurisdiction: `DB_3` after `DB_2`, `DB_EU_1` as the first of `eu`. */
export function nextBindings(
  known: readonly string[],
  count: number,
  jurisdiction: string | null,
): string[] {
  const prefix = jurisdiction === null ? 'DB_' : `DB_${jurisdiction.toUpperCase()}_`
  const numbers = known.flatMap((name) => {
    const rest = name.startsWith(prefix) ? name.slice(prefix.length) : ''
    return /^\d+$/.test(rest) ? [Number(rest)] : []
  })
  // `DB` itself is the first without a jurisdiction.
  const last = Math.max(jurisdiction === null ? 1 : 0, ...numbers)
  return Array.from({ length: count }, (_, i) => `${prefix}${last + 1 + i}`)
}

/** A section of a database in wrangler.toml: of the top level, or of an environment. */
const SECTION = /\[\[(?:env\.(\w+)\.)?d1_databases\]\]\n(?:[^\n[]+\n)+/g

/** Returns the id of a local database, which `npm run dev` keeps apart by it. */
const localId = (binding: string) => {
  const digits = [...binding].reduce((sum, char) => (sum * 31 + char.charCodeAt(0)) % 0xffffffff, 7)
  return `00000000-0000-0000-0001-${digits.toString(16).padStart(12, '0')}`
}

/**
 * Returns wrangler.toml with more databases: behind the last one of the top level and of each environment.
 * `nameOf` returns the name of a database in an environment.
 */
export function withDatabases(
  toml: string,
  bindings: readonly string[],
  nameOf: (env: string | undefined, binding: string) => string,
): string {
  const lasts = new Map<string | undefined, number>()
  for (const found of toml.matchAll(SECTION)) lasts.set(found[1], found.index + found[0].length)
  // From the end, so that the other places stay.
  const places = [...lasts].toSorted(([, a], [, b]) => b - a)
  return places.reduce((text, [env, at]) => {
    const added = bindings.map((binding) => {
      const lines = [
        `\n[[${env ? `env.${env}.` : ''}d1_databases]]`,
        `binding = "${binding}"`,
        `database_name = "${nameOf(env, binding)}"`,
        ...(env ? [] : [`database_id = "${localId(binding)}"`]),
        'migrations_dir = "migrations"\n',
      ]
      return lines.join('\n')
    })
    return text.slice(0, at) + added.join('') + text.slice(at)
  }, toml)
}

/** Returns package.json with a description of each database, behind that of `DB`. */
export function describeBindings(manifest: string, bindings: readonly string[]): string {
  const pkg = JSON.parse(manifest)
  const described = Object.entries(pkg.cloudflare.bindings)
  const at = described.findIndex(([name]) => name === 'DB') + 1
  const added = bindings.map((binding) => [
    binding,
    { description: 'Records of accounts. Each deployment migrates it.' },
  ])
  pkg.cloudflare.bindings = Object.fromEntries([
    ...described.slice(0, at),
    ...added,
    ...described.slice(at),
  ])
  return `${JSON.stringify(pkg, null, 2)}\n`
}
