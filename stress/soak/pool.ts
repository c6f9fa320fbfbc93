import { newRequestSender, type RequestSender } from '../ask.ts'

/** Uses of one token a minute. The contract allows 1000, of which an eviction may cost 25. */
const MOST = 850
const WINDOW_MS = 60_000

/** The tokens rest in turn, each for this long: the platform evicts objects that are idle for 10 s. */
const REST_MS = 15_000

/** How long after a token begins to rest all of its requests have been answered. */
const SETTLED_MS = 3000

/** Returns the index of the token that rests. */
const restingAt = (now: number, count: number) => Math.floor(now / REST_MS) % count

/** A token, the name of its object, and the times of its requests. */
interface Member {
  ask: RequestSender
  objectName: string
  times: number[]
}

/** The tokens of one account. They take turns, so that none is refused. */
export interface Pool {
  /** Sends a request with one of the tokens. */
  ask: RequestSender
  /** Returns the name of the object whose token has rested for a while, or null. */
  resting: () => string | null
  /** Notes an eviction, which may count requests that were never made. */
  noteEviction: (objectName: string) => void
}

/** Makes a pool of tokens, given their headers and the names of their objects. */
export function newPool(
  base: URL,
  at: string,
  tokens: readonly { headers: Record<string, string>; objectName: string }[],
): Pool {
  const members = tokens.map(
    ({ headers, objectName }): Member => ({
      ask: newRequestSender(base, headers, at),
      objectName,
      times: [],
    }),
  )
  const nextMember = async (): Promise<Member> => {
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
    ask: async (...sent) => (await nextMember()).ask(...sent),
    resting() {
      const now = Date.now()
      const at = restingAt(now, members.length)
      return restingAt(now - SETTLED_MS, members.length) === at ? members[at]!.objectName : null
    },
    noteEviction(objectName) {
      const { times } = members.find((member) => member.objectName === objectName)!
      times.push(...Array<number>(25).fill(Date.now()))
    },
  }
}
