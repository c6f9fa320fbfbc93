/** What one client was told of one bulk: each key it wrote, and whether it made it. */
export interface Told {
  client: number
  created: ReadonlySet<string>
  keys: readonly string[]
  sentAt: number
  answeredAt: number
}

/**
 * An order of the clients in which one after the other would have left the same behind: whoever
 * created a key came before all others that wrote it, whose version is stored came after them, and
 * who was answered before another one asked came before it. Null where there is none.
 */
export function serialOrder(
  tolds: readonly Told[],
  stored: ReadonlyMap<string, number>,
): number[] | null {
  const before = new Map(tolds.map(({ client }) => [client, new Set<number>()]))
  const comes = (first: number, second: number) => {
    if (first !== second) before.get(second)!.add(first)
  }
  const writers = new Map<string, Told[]>()
  for (const told of tolds) {
    for (const key of told.keys) writers.set(key, [...(writers.get(key) ?? []), told])
  }
  for (const [key, who] of writers) {
    const last = stored.get(key)
    for (const { client, created } of who) {
      if (last !== undefined) comes(client, last)
      if (created.has(key)) for (const other of who) comes(client, other.client)
    }
  }
  for (const one of tolds) {
    for (const other of tolds) if (one.answeredAt < other.sentAt) comes(one.client, other.client)
  }

  const order: number[] = []
  while (before.size > 0) {
    const next = [...before].find(([, others]) => [...others].every((one) => !before.has(one)))
    if (!next) return null
    order.push(next[0])
    before.delete(next[0])
  }
  return order
}
