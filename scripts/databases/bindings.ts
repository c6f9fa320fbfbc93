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

/** Returns the id of a local database, which `npm run dev` keeps apart by it. */
const localId = (binding: string) => {
  const digits = [...binding].reduce((sum, char) => (sum * 31 + char.charCodeAt(0)) % 0xffffffff, 7)
  return `00000000-0000-0000-0001-${digits.toString(16).padStart(12, '0')}`
}

/** The name of a thing in an environment. */
type NameIn = (env: string | undefined) => string

/** Returns the first line of a section of wrangler.toml: of the top level, or of an environment. */
const headOf = (kind: string, env: string | undefined) => `\n[[${env ? `env.${env}.` : ''}${kind}]]`

/** Returns wrangler.toml with more sections of a kind: behind the last one of the top level and of each environment. */
function withSections(
  toml: string,
  kind: string,
  added: (env: string | undefined) => string,
): string {
  const section = new RegExp(`\\[\\[(?:env\\.(\\w+)\\.)?${kind}\\]\\]\n(?:[^\n[]+\n)+`, 'g')
  const lasts = new Map<string | undefined, number>()
  for (const found of toml.matchAll(section)) lasts.set(found[1], found.index + found[0].length)
  // From the end, so that the other places stay.
  const places = [...lasts].toSorted(([, a], [, b]) => b - a)
  return places.reduce((text, [env, at]) => text.slice(0, at) + added(env) + text.slice(at), toml)
}

/** Returns wrangler.toml with more databases. `nameOf` returns the name of a database in an environment. */
export const withDatabases = (
  toml: string,
  bindings: readonly string[],
  nameOf: (env: string | undefined, binding: string) => string,
): string =>
  withSections(toml, 'd1_databases', (env) =>
    bindings
      .map((binding) =>
        [
          headOf('d1_databases', env),
          `binding = "${binding}"`,
          `database_name = "${nameOf(env, binding)}"`,
          ...(env ? [] : [`database_id = "${localId(binding)}"`]),
          'migrations_dir = "migrations"\n',
        ].join('\n'),
      )
      .join(''),
  )

/** The bucket of a jurisdiction: objects never leave it. */
export interface Bucket {
  /** Such as `EXPORTS_EU`. */
  readonly binding: string
  readonly jurisdiction: string
  readonly nameIn: NameIn
}

/** Returns wrangler.toml with the bucket of a jurisdiction. */
export const withBucket = (toml: string, { binding, jurisdiction, nameIn }: Bucket): string =>
  withSections(toml, 'r2_buckets', (env) =>
    [
      headOf('r2_buckets', env),
      `binding = "${binding}"`,
      `bucket_name = "${nameIn(env)}"`,
      `jurisdiction = "${jurisdiction}"\n`,
    ].join('\n'),
  )

/** Returns package.json with descriptions of further bindings, behind that of `known`. */
export function describeBindings(
  manifest: string,
  known: string,
  bindings: readonly string[],
  description: string,
): string {
  const pkg = JSON.parse(manifest)
  const described = Object.entries(pkg.cloudflare.bindings)
  const at = described.findIndex(([name]) => name === known) + 1
  const added = bindings.map((binding) => [binding, { description }])
  pkg.cloudflare.bindings = Object.fromEntries([
    ...described.slice(0, at),
    ...added,
    ...described.slice(at),
  ])
  return `${JSON.stringify(pkg, null, 2)}\n`
}
