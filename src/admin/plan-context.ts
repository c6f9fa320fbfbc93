import type { WarningContext } from '../commission/plans/plan-warnings.ts'
import { vocabularyOf } from '../commission/plans/vocabulary.ts'
import { readRatedCurrencies } from '../db/commission/load-rates.ts'
import { listDefinitions } from '../db/directory/event-definitions.ts'
import type { Account } from '../db/schema.ts'
import type { ResourcesOf } from '../ingest/resource.ts'

/** Reads what the checks of a plan depend on beside the account's other plans. */
export async function readPlanContext(
  directory: D1Database,
  { id, vertical }: Account,
  resourcesOf: ResourcesOf,
): Promise<Omit<WarningContext, 'onceIds'>> {
  const [definitions, ratedCurrencies] = await Promise.all([
    listDefinitions(directory, id),
    knownRates(directory),
  ])
  return { vocabulary: vocabularyOf(resourcesOf(vertical), definitions), ratedCurrencies }
}

/** Returns the currencies with rates. Before the first import it is unknown which will have some. */
async function knownRates(directory: D1Database): Promise<Set<string> | null> {
  const rated = await readRatedCurrencies(directory)
  return rated.size > 0 ? rated : null
}
