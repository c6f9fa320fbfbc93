/** The response to one bulk of one client: the keys it wrote, and which of them it created. */
export interface ClientResult {
  client: number
  created: ReadonlySet<string>
  keys: readonly string[]
  sentAt: number
  answeredAt: number
}

/**
 * Returns an order of the clients that explains the result as if they had written one after the other:
 * the creator of a key is before its other writers, the owner of the stored version after them, and a
 * client with a response before those that started later. Returns null if there is no such order.
 */
export function serialOrder(
  results: readonly ClientResult[],
  stored: ReadonlyMap<string, number>,
): number[] | null {
  const before = new Map(results.map(({ client }) => [client, new Set<number>()]))
  const orderBefore = (first: number, second: number) => {
    if (first !== second) before.get(second)!.add(first)
  }
  const writers = new Map<string, ClientResult[]>()
  for (const result of results) {
    for (const key of result.keys) writers.set(key, [...(writers.get(key) ?? []), result])
  }
  for (const [key, writersOfKey] of writers) {
    const last = stored.get(key)
    for (const { client, created } of writersOfKey) {
      if (last !== undefined) orderBefore(client, last)
      if (created.has(key)) for (const other of writersOfKey) orderBefore(client, other.client)
    }
  }
  for (const one of results) {
    for (const other of results)
      if (one.answeredAt < other.sentAt) orderBefore(one.client, other.client)
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
