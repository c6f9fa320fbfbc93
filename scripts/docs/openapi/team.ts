import { ENTITIES } from '../entities.ts'
import { deskOf } from './desk.ts'
import { type Operation, ref } from './operation.ts'
import { accounts, credentials } from './team/accounts.ts'
import { OWN } from './team/common.ts'
import { insight, links } from './team/insight.ts'
import { affiliates, events, vocabulary } from './team/settings.ts'

/** All that the integrations team may ask. */
export const team = (): Operation[] => [
  ...accounts(),
  ...credentials(),
  ...affiliates(),
  ...vocabulary(),
  ...events(),
  ...links(),
  ...insight(),
  ...deskOf(OWN, 'team', 'administration', ENTITIES, {
    anyOf: [ref('PartnerTotal'), ref('BrandTotal')],
  }),
]
