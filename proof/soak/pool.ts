import { type Ask, asking } from '../ask.ts'

/** How often one token is used in a minute: the contract allows 1000, an eviction may cost 25. */
const MOST = 850
const WINDOW_MS = 60_000

/** One token after the other rests for so long: an object that is idle for 10 s is evicted. */
const REST_MS = 15_000

/** By then what was asked before has been answered. */
const SETTLED_MS = 3000

/** Which of so many tokens rests. */
const restingAt = (now: number, count: number) => Math.floor(now / REST_MS) % count

/** A token, the name of its object, and when it was used. */
interface Member {
  ask: Ask
  gate: string
  times: number[]
}

/** The tokens of one account, used in turns so that none of them is ever refused. */
export interface Pool {
  /** Asks by one of the tokens. */
  ask: Ask
  /** The name of the object whose token rests now, and has for a while; null: none has yet. */
  resting: () => string | null
  /** It was evicted, which may count as requests that were not made. */
  evicted: (gate: string) => void
}

/** Tokens with the headers that carry them, and the names of their objects. */
export function newPool(
  base: URL,
  at: string,
  tokens: readonly { headers: Record<string, string>; gate: string }[],
): Pool {
  const members = tokens.map(
    ({ headers, gate }): Member => ({ ask: asking(base, headers, at), gate, times: [] }),
  )
  const take = async (): Promise<Member> => {
    for (;;) {
      const now = Date.now()
      const resting = restingAt(now, members.length)
      for (const member of members) {
        while (member.times[0]! < now - WINDOW_MS) member.times.shift()
      }
      const awake = members.filter((_, i) => i !== resting || members.length === 1)
      const next = awake.reduce((a, b) => (b.times.length < a.times.length ? b : a))
      if (next.times.length < MOST) {
        next.times.push(now)
        return next
      }
      await new Promise((done) => setTimeout(done, 50))
    }
  }
  return {
    ask: async (...sent) => (await take()).ask(...sent),
    resting() {
      const now = Date.now()
      const at = restingAt(now, members.length)
      return restingAt(now - SETTLED_MS, members.length) === at ? members[at]!.gate : null
    },
    evicted(gate) {
      const { times } = members.find((member) => member.gate === gate)!
      times.push(...Array<number>(25).fill(Date.now()))
    },
  }
}
