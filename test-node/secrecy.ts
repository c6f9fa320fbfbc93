import { type Asked, type Known, learn, learnKeys, learnSecret } from './secrecy/learn.ts'
import { bytesOf, found, foundIn, nothing, readings, type Sought } from './secrecy/search.ts'

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

/** Requests of which a test sends many, their answers, and what was printed meanwhile. */
export interface Many {
  world: string
  overheard: (Pick<Exchange, 'path' | 'asked' | 'status' | 'body'> & {
    printed: string[]
    /** Whether its names are those of the test: then tables are searched for them, too. */
    isNaming: boolean
  })[]
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

/** These secrets, and nobody. */
const knowing = (secrets: Sought): Known => ({
  ...{ secrets, people: nothing(), notes: nothing(), team: nothing() },
})

/** Where something is kept or printed, and all texts that are there. */
type Place = [name: string, texts: string[]]

/** What differs in lines and answers that are the same but for that: nothing of the caller's. */
const OWN = /"request_id":"[\da-f-]{36}"|"delivery_id":"dlv_[\dA-Z]{26}"|"ms":\d+/g

/** What a text may be read as, but for that: to read it takes long, and many say the same. */
const readingsOf = (() => {
  const known = new Map<string, [string, string][]>()
  return (text: string) => {
    const same = text.replaceAll(OWN, '')
    const all = known.get(same) ?? [...readings(bytesOf(same))]
    if (known.size < 10_000) known.set(same, all)
    return all
  }
})()

/** Searches what each test printed and stored for what the suite sent and was answered. */
export function secrecy(keySets: Record<string, string>, adminKey: string) {
  const ours = nothing()
  for (const [name, set] of Object.entries(keySets)) learnKeys(ours, name, set)
  learnSecret(ours, 'ADMIN_KEY', adminKey)
  const worlds = new Map<string, Known>()

  const knownIn = (world: string): Known => {
    const known = worlds.get(world) ?? knowing(nothing())
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

  /**
   * The same of many, each held against what it says itself: what is hostile may say what stands
   * elsewhere with good reason, so that only what let somebody in is a secret of all others, too.
   */
  function overhear({ world, overheard }: Many): string | null {
    const known = knownIn(world)
    for (const { path, asked, status, body, printed, isNaming } of overheard) {
      const own = isNaming ? known : knowing(status < 400 ? known.secrets : nothing())
      learn(own, path, asked, body)
      const secrets = [ours, known.secrets, own.secrets]
      const people = [own.people, own.notes, own.team]
      const said =
        foundIn(readingsOf(printed.join('\n')), [...secrets, ...people]) ??
        (status < 400 ? null : foundIn(readingsOf(body), secrets))
      if (said) return `what is printed or answered at ${path} has the ${said}`
    }
    return null
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

  return { hear, overhear, leak, printed }
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
