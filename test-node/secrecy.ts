import { type Known, learn, learnKeys, learnSecret, type RequestText } from './secrecy/learn.ts'
import { bytesOf, found, foundIn, nothing, readings, type Sought } from './secrecy/search.ts'

// Secrets are never logged or stored, and personal values are stored only where they belong. Requests
// and responses show which values these are; each test reports what it logged and stored.

/** A request and its response, as a test saw them. */
export interface Exchange {
  /** The test file. */
  world: string
  path: string
  request: RequestText
  status: number
  headers: Record<string, string>
  body: string
}

/** Many requests of a test with their responses, and the lines that were logged meanwhile. */
export interface Exchanges {
  world: string
  exchanges: (Pick<Exchange, 'path' | 'request' | 'status' | 'body'> & {
    printed: string[]
    /** Whether the tables are searched for its names, too. */
    isNaming: boolean
  })[]
}

type Row = Record<string, unknown>

/** What a test logged and stored. */
export interface TestOutput {
  world: string
  printed: string[]
  /** The rows of each table, a database at a time. */
  databases: Record<string, Row[]>[]
  /** The names and the storage of all objects. */
  objects: unknown[]
}

/** The columns that may hold personal values. */
const HOME_OF = new Map<string, Home>([
  ['customers.first_name', 'people'],
  ['customers.last_name', 'people'],
  ['customers.email', 'people'],
  ['customers.extras', 'people'],
  ['affiliate_members.email', 'notes'],
  ['affiliate_invitations.email', 'notes'],
  ['outbox.recipient', 'notes'],
  ['outbox.except_actor', 'team'],
  ['affiliates.note', 'notes'],
  ['transactions.note', 'notes'],
  ['events.record', 'notes'],
  ['events.details', 'notes'],
  ['audit_log.actor', 'team'],
  ['members.email', 'team'],
  ['statement_approvals.actor', 'team'],
  ['fraud_decisions.actor', 'team'],
  ['manual_entries.actor', 'team'],
  ['payments.actor', 'team'],
  ['payment_returns.actor', 'team'],
  ['ledger.actor', 'team'],
  ['payees.entered_by', 'team'],
  ['payees.approvals', 'team'],
  ['payout_batches.authors', 'team'],
  ['payout_batches.rows', 'team'],
  ['transfers.doubts', 'team'],
  ['payout_batches.confirmed_by', 'team'],
])

type Home = 'people' | 'notes' | 'team'
const HOMES: readonly Home[] = ['people', 'notes', 'team']

/** Returns what is known: these secrets and no names. */
const knowing = (secrets: Sought): Known => ({
  secrets,
  people: nothing(),
  notes: nothing(),
  team: nothing(),
})

/** A column, an object or the log, with all its texts. */
type Place = [name: string, texts: string[]]

/** Members and a header that differ between equal lines and responses; none comes from the caller. */
const OWN = /"request_id":"[\da-f-]{36}"|^[\da-f-]{36}$|"delivery_id":"dlv_[\dA-Z]{26}"|"ms":\d+/gm

/** Decodes a text without these members, and remembers it: decoding is slow, and most are equal. */
const readingsOf = (() => {
  const known = new Map<string, [string, string][]>()
  return (text: string) => {
    const same = text.replaceAll(OWN, '')
    const all = known.get(same) ?? [...readings(bytesOf(same))]
    if (known.size < 10_000) known.set(same, all)
    return all
  }
})()

/** Searches what each test logged and stored for the secrets and names that it sent or received. */
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

  /** Learns from an exchange. Returns what a refusal repeats of it, or null. */
  function learnExchange({ world, path, request, status, headers, body }: Exchange): string | null {
    const known = knownIn(world)
    learn(known, path, request, body)
    if (status < 400) return null
    const all = [ours, known.secrets, known.people, known.notes, known.team]
    return foundIn(readingsOf(`${body}\n${Object.values(headers).join('\n')}`), all)
  }

  /**
   * Does the same for many exchanges, each compared with its own values: hostile input may contain what
   * stands elsewhere for good reason, so that only accepted credentials are secrets of all others, too.
   */
  function learnMany({ world, exchanges }: Exchanges): string | null {
    const known = knownIn(world)
    for (const { path, request, status, body, printed, isNaming } of exchanges) {
      const own = isNaming ? known : knowing(status < 400 ? known.secrets : nothing())
      learn(own, path, request, body)
      const secrets = [ours, known.secrets, own.secrets]
      const people = [own.people, own.notes, own.team]
      const leak =
        foundIn(readingsOf(printed.join('\n')), [...secrets, ...people]) ??
        (status < 400 ? null : foundIn(readingsOf(body), secrets))
      if (leak) return `the log or the response of ${path} has the ${leak}`
    }
    return null
  }

  /** Returns what a test logged or stored against the rules, or null. */
  function leak({ world, printed, databases, objects }: TestOutput): string | null {
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
    const leak =
      searched(places, soughtIn) ?? databases.map(kept).find((one) => one !== null) ?? null
    for (const name of HOMES) known[name] = nothing()
    return leak
  }

  /** Returns which of all learned secrets a text contains, or null. */
  const printed = (text: string): string | null =>
    found(bytesOf(text), [ours, ...[...worlds.values()].map(({ secrets }) => secrets)])

  return { learnExchange, learnMany, leak, printed }
}

/** Returns the first forbidden value. Places with the same rules are searched together. */
function searched(places: Place[], soughtIn: (home?: Home) => Sought[]): string | null {
  for (const [home, group] of Map.groupBy(places, ([name]) => HOME_OF.get(name))) {
    const sought = soughtIn(home)
    const all = new Set(group.flatMap(([, texts]) => texts))
    if (!found(bytesOf([...all].join('\n')), sought)) continue
    for (const [name, texts] of group) {
      const what = found(bytesOf(texts.join('\n')), sought)
      if (what) return `${name} has the ${what}`
    }
  }
  return null
}

/** Returns the different texts of each column. */
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

/** The columns that an erasure empties. */
const PERSONAL = ['first_name', 'last_name', 'email', 'extras']

/** Returns a personal column of an erased customer that is not empty, or null. */
function kept({ erasures = [], customers = [] }: Record<string, Row[]>): string | null {
  const customerKey = ({ account, customer_id }: Row) => JSON.stringify([account, customer_id])
  const erased = new Set(erasures.map(customerKey))
  for (const row of customers) {
    if (!erased.has(customerKey(row))) continue
    const column = PERSONAL.find((name) => row[name] != null)
    if (column) return `customers.${column} is not empty for an erased customer`
  }
  return null
}
