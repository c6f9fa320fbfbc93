import { ENTITIES } from '../entities.ts'
import { fraudSimulation } from './administration/fraud-simulation.ts'
import { looking } from './administration/looking.ts'
import { ACCOUNT_PATH } from './administration/operation.ts'
import { assignments } from './administration/plans.ts'
import { affiliates } from './administration/settings.ts'
import { simulation } from './administration/simulation.ts'
import { books } from './books.ts'
import { fraudCases } from './cases.ts'
import { derived } from './derived.ts'
import { teamExports } from './exports.ts'
import { monitoringOf } from './monitoring.ts'
import { type Operation, ref } from './operation.ts'
import { rates } from './rates.ts'
import { report } from './reports.ts'
import { statements } from './statements.ts'
import { why } from './why.ts'

/**
 * The operations of the integrations team by topic. A topic is a tag of OpenAPI and a page of the
 * reference. `customers`, which erases data, comes after the topics that read this data.
 */
const TOPICS: Readonly<Record<string, () => Operation[]>> = {
  accounts: () => [],
  definitions: () => [],
  affiliates: affiliates,
  webhooks: () => [],
  plans: () => [simulation(), ...assignments(), ...rates()],
  fraud: () => [fraudSimulation()],
  cases: fraudCases,
  statements: () => [...statements(), ...books()],
  explanations: why,
  customers: () => [],
  monitoring: () => [
    ...looking(),
    report(),
    ...monitoringOf({
      at: ACCOUNT_PATH,
      caller: 'team',
      tag: 'monitoring',
      entities: ENTITIES,
      total: { anyOf: [ref('PartnerTotal'), ref('BrandTotal')] },
    }),
    ...teamExports(),
  ],
}

/** Lists the operations of the integrations team. */
export const administration = (): Operation[] =>
  Object.entries(TOPICS).flatMap(([tag, operations]) =>
    [...operations(), ...derived(tag)].map((operation) => ({ ...operation, tag })),
  )
