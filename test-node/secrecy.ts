import { type Asked, type Known, learn, learnKeys, learnSecret } from './secrecy/learn.ts'
import { bytesOf, found, nothing, type Sought } from './secrecy/search.ts'

// Secrets are nowhere printed and nowhere stored, personal values only where they belong. What the
// suite sends and is answered says what they are; each test says what was printed and is stored.

/** One request and its answer, as a test heard them. */
export interface Exchange {
  /** Where the test lives: one a file. */
  world: string
  path: string
  asked: Asked
  status: number
  headers: Record<string, string>
  body: string
}

type Row = Record<string, unknown>

/** What a test leaves behind. */
export interface Left {
  world: string
  printed: string[]
  /** The rows of each table, a database at a time. */
  databases: Record<string, Row[]>[]
  /** The names and the storage of all objects. */
  objects: unknown[]
}

/** The columns that keep what is personal; no other may. */
const HOME_OF = new Map<string, Home>([
  ['customers.first_name', 'people'],
  ['customers.last_name', 'people'],
  ['customers.email', 'people'],
  ['customers.extras', 'people'],
  ['transactions.note', 'notes'],
  ['events.record', 'notes'],
  ['events.details', 'notes'],
  ['audit_log.actor', 'team'],
])

type Home = 'people' | 'notes' | 'team'
const HOMES: readonly Home[] = ['people', 'notes', 'team']

/** Where something is kept or printed, and all texts that are there. */
type Place = [name: string, texts: string[]]

/** Searches what each test printed and stored for what the suite sent and was answered. */
export function secrecy(keySets: Record<string, string>, adminKey: string) {
  const ours = nothing()
  for (const [name, set] of Object.entries(keySets)) learnKeys(ours, name, set)
  learnSecret(ours, 'ADMIN_KEY', adminKey)
  const worlds = new Map<string, Known>()

  const knownIn = (world: string): Known => {
    const known = worlds.get(world) ?? {
      secrets: nothing(),
      people: nothing(),
      notes: nothing(),
      team: nothing(),
    }
    worlds.set(world, known)
    return known
  }

  /** Learns what is said; a refusal that says it back is answered with what it says. */
  function hear({ world, path, asked, status, headers, body }: Exchange): string | null {
    const known = knownIn(world)
    learn(known, path, asked, body)
    if (status < 400) return null
    const all = [ours, known.secrets, known.people, known.notes, known.team]
    return found(bytesOf(`${body}\n${Object.values(headers).join('\n')}`), all)
  }

  /** What a test left that it must not, in words; null: nothing. */
  function leak({ world, printed, databases, objects }: Left): string | null {
    const known = knownIn(world)
    const places: Place[] = [
      ...printed.map((line): Place => ['the log', [line]]),
      ...databases.flatMap(columnsOf),
      ["an object's storage", objects.map((one) => JSON.stringify(one))],
    ]
    const soughtIn = (home: Home | undefined): Sought[] => [
      ours,
      known.secrets,
      ...HOMES.filter((one) => one !== home).map((one) => known[one]),
    ]
    const said =
      searched(places, soughtIn) ?? databases.map(kept).find((one) => one !== null) ?? null
    for (const name of HOMES) known[name] = nothing()
    return said
  }

  /** What of all secrets that were ever learned a text has; null: nothing. */
  const printed = (text: string): string | null =>
    found(bytesOf(text), [ours, ...[...worlds.values()].map(({ secrets }) => secrets)])

  return { hear, leak, printed }
}

/** The first place that has what it must not; where the same is sought is searched at once. */
function searched(places: Place[], soughtIn: (home?: Home) => Sought[]): string | null {
  for (const [home, group] of Map.groupBy(places, ([name]) => HOME_OF.get(name))) {
    const sought = soughtIn(home)
    const all = group.flatMap(([, texts]) => texts)
    if (!found(bytesOf(all.join('\n')), sought)) continue
    for (const [name, texts] of group) {
      const what = found(bytesOf(texts.join('\n')), sought)
      if (what) return `${name} has the ${what}`
    }
  }
  return null
}

/** The texts of each column that has any, each but once. */
function columnsOf(tables: Record<string, Row[]>): Place[] {
  const columns = new Map<string, Set<string>>()
  for (const [table, rows] of Object.entries(tables)) {
    for (const row of rows) {
      for (const [column, value] of Object.entries(row)) {
        if (typeof value !== 'string') continue
        const name = `${table}.${column}`
        if (!columns.has(name)) columns.set(name, new Set())
        columns.get(name)!.add(value)
      }
    }
  }
  return [...columns].map(([name, texts]) => [name, [...texts]])
}

/** What is gone once a customer is erased. */
const PERSONAL = ['first_name', 'last_name', 'email', 'extras']

/** Whether of someone who was erased anything personal is kept. */
function kept({ erasures = [], customers = [] }: Record<string, Row[]>): string | null {
  const keyOf = ({ account, customer_id }: Row) => JSON.stringify([account, customer_id])
  const erased = new Set(erasures.map(keyOf))
  for (const row of customers) {
    if (!erased.has(keyOf(row))) continue
    const column = PERSONAL.find((name) => row[name] != null)
    if (column) return `customers.${column} has something of a customer who was erased`
  }
  return null
}
