import { table } from '../../bench/figures.ts'
import type { Answer } from '../ask.ts'
import { newOperations, type Operations } from './operations.ts'

/** The responses of one route: their durations in milliseconds, and their number by status. */
interface Route {
  times: number[]
  statuses: Map<number, number>
}

/** All responses of a soak, and the unexpected ones. */
export interface ResponseLog {
  /** Records a response under its route. It must have one of the given statuses. */
  expectStatus: (
    route: string,
    statuses: readonly number[],
    request: Promise<Answer>,
  ) => Promise<Answer>
  /** Records a violation. */
  reportProblem: (message: string) => void
  requests: () => number
  /** The operations that were requested and succeeded. */
  operations: Operations
  summary: () => string
}

/** Starts an empty record of responses. */
export function newResponseLog(reportProblem: (message: string) => void): ResponseLog {
  const routes = new Map<string, Route>()
  const operations = newOperations()
  let requests = 0
  return {
    reportProblem,
    operations,
    requests: () => requests,
    async expectStatus(name, statuses, request) {
      const started = performance.now()
      const answer = await request.catch((cause) => {
        throw new Error(`${name} had no response: ${cause.cause ?? cause}`)
      })
      const route: Route = routes.get(name) ?? { times: [], statuses: new Map() }
      routes.set(name, route)
      route.times.push(performance.now() - started)
      route.statuses.set(answer.status, (route.statuses.get(answer.status) ?? 0) + 1)
      requests += 1
      if (answer.status < 400) operations.record(answer.route)
      if (!statuses.includes(answer.status)) {
        const text = JSON.stringify(answer.body).slice(0, 300)
        reportProblem(
          `${name} was answered ${answer.status}, not ${statuses.join(' or ')}: ${text}`,
        )
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
