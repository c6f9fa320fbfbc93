import { table } from '../../bench/figures.ts'
import type { Answer } from '../ask.ts'
import { newOperations, type Operations } from './operations.ts'

/** The answers of one route: how long they took in ms, and how many there were by status. */
interface Route {
  times: number[]
  statuses: Map<number, number>
}

/** All answers of a soak, and those that nobody asked for. */
export interface Heard {
  /** Waits for an answer, which must have one of these statuses; notes it under its route. */
  hear: (route: string, statuses: readonly number[], asked: Promise<Answer>) => Promise<Answer>
  /** Notes what is not as it should be. */
  odd: (words: string) => void
  requests: () => number
  /** The operations that were asked and did what they are there for. */
  operations: Operations
  summary: () => string
}

/** A soak that has not heard anything yet. */
export function newHeard(odd: (words: string) => void): Heard {
  const routes = new Map<string, Route>()
  const operations = newOperations()
  let requests = 0
  return {
    odd,
    operations,
    requests: () => requests,
    async hear(name, statuses, asked) {
      const started = performance.now()
      const answer = await asked.catch((cause) => {
        throw new Error(`${name} was not answered: ${cause.cause ?? cause}`)
      })
      const route: Route = routes.get(name) ?? { times: [], statuses: new Map() }
      routes.set(name, route)
      route.times.push(performance.now() - started)
      route.statuses.set(answer.status, (route.statuses.get(answer.status) ?? 0) + 1)
      requests += 1
      if (answer.status < 400) operations.heard(answer.asked)
      if (!statuses.includes(answer.status)) {
        const said = JSON.stringify(answer.body).slice(0, 300)
        odd(`${name} was answered ${answer.status}, not ${statuses.join(' or ')}: ${said}`)
      }
      return answer
    },
    summary() {
      const rows = [...routes].sort(([a], [b]) => (a < b ? -1 : 1))
      return table([
        ['route', 'requests', 'by status', 'p50 ms', 'p99 ms'],
        ...rows.map(([name, { times, statuses }]) => [
          name,
          String(times.length),
          [...statuses].map(([status, n]) => `${status}: ${n}`).join(', '),
          ...[0.5, 0.99].map((part) => at(times, part).toFixed(1)),
        ]),
      ])
    },
  }
}

const at = (times: readonly number[], part: number) =>
  [...times].sort((a, b) => a - b)[Math.floor((times.length - 1) * part)] ?? Number.NaN
