import { breakdown, timeVerification } from './breakdown.ts'
import type { Chapter } from './chapter.ts'
import { compete, timeRoute } from './compete.ts'
import { newBulks } from './records.ts'
import { report } from './report.ts'
import type { World } from './world.ts'

/** Measures bulks of 1000 records, with the contestants taking turns, and the steps of Tributary. */
export async function ingest({ scale, us, issuer, peers, limits }: World): Promise<Chapter> {
  const { rounds, bulks, requests } = scale
  const set = newBulks(bulks)
  const results = await compete([...(await peers()), ...(await limits())], set, scale)
  const empty = await timeRoute(us, requests, new URL('/healthz', us.running.url))
  const query = new URL('/api/v1/forex/transactions?unknown', us.running.url)
  const authentication = await timeRoute(us, requests, query, us.authorization())
  const verify = await timeVerification(
    us.authorization().Authorization.slice('Bearer '.length),
    issuer,
  )
  return report({
    results,
    empty,
    authentication,
    verify,
    parts: await breakdown(us, set),
    rounds,
    bulks,
  })
}
