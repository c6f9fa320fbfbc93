import { ENTITIES } from '../entities.ts'
import { accounts, credentials } from './administration/accounts.ts'
import { histories } from './administration/histories.ts'
import { attribution, audit, erasure, links } from './administration/insight.ts'
import { looking } from './administration/looking.ts'
import { ACCOUNT_PATH } from './administration/operation.ts'
import { assignments, plans } from './administration/plans.ts'
import { affiliates, events, unmappedStatuses, vocabulary } from './administration/settings.ts'
import { simulation } from './administration/simulation.ts'
import { webhooks } from './administration/webhooks.ts'
import { books } from './books.ts'
import { monitoringOf } from './monitoring.ts'
import { type Operation, ref } from './operation.ts'
import { rates } from './rates.ts'
import { report } from './reports.ts'
import { statements } from './statements.ts'
import { why } from './why.ts'

/** Lists the operations of the integrations team. */
export const administration = (): Operation[] => [
  ...accounts(),
  ...credentials(),
  ...affiliates(),
  ...vocabulary(),
  ...unmappedStatuses(),
  ...events(),
  ...links(),
  ...webhooks(),
  ...plans(),
  simulation(),
  ...assignments(),
  ...rates(),
  ...statements(),
  ...books(),
  ...why(),
  report(),
  ...attribution(),
  ...erasure(),
  ...histories(),
  ...looking(),
  ...audit(),
  ...monitoringOf({
    at: ACCOUNT_PATH,
    caller: 'team',
    tag: 'administration',
    entities: ENTITIES,
    total: { anyOf: [ref('PartnerTotal'), ref('BrandTotal')] },
  }),
]
