import { fraudSimulation } from './administration/fraud-simulation.ts'
import { simulation } from './administration/simulation.ts'
import { derived } from './derived.ts'
import type { Operation } from './operation.ts'

const isOfAssignments = ({ path }: Operation) => path.endsWith('/assignments')

/**
 * The operations of the integrations team by topic. A topic is a tag of OpenAPI and a page of the
 * reference. `own` are those that are values. An operation comes after those that store what its example names, and
 * `customers`, which erases data, after the topics that read this data.
 */
const TOPICS: Readonly<Record<string, (own: readonly Operation[]) => readonly Operation[]>> = {
  accounts: (own) => own,
  definitions: (own) => own,
  affiliates: (own) => own,
  webhooks: (own) => own,
  plans: (own) => [
    ...own.filter((one) => !isOfAssignments(one)),
    simulation(),
    ...own.filter(isOfAssignments),
  ],
  fraud: (own) => [...own, fraudSimulation()],
  cases: (own) => own,
  statements: (own) => own,
  explanations: (own) => own,
  customers: (own) => own,
  monitoring: (own) => own,
}

/** Lists the operations of the integrations team. */
export const administration = (): Operation[] =>
  Object.entries(TOPICS).flatMap(([tag, operations]) =>
    operations(derived(tag)).map((operation) => ({ ...operation, tag })),
  )
