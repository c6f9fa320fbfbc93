import * as v from 'valibot'
import { list } from '../../platform/http/operation.ts'
import { time } from '../../platform/validation/answer-fields.ts'
import { described } from '../../platform/validation/described.ts'
import { listHeld as readHeld } from '../db/release.ts'
import { deliveryTime } from '../delivery-id.ts'
import { toIsoTime } from '../find-deliveries.ts'
import { deliveryId } from '../result-fields.ts'
import { resourcesOf } from '../verticals.ts'
import { record, resource } from './delivery-fields.ts'

export const listHeld = list({
  topic: 'monitoring',
  id: 'listHeld',
  shows: 'account',
  path: '/held',
  callers: ['team', 'account'],
  words: described(() => ({
    description:
      'Lists records that wait for their customer. They are not counted until you send the customer, which releases them. The request counts as 5 requests of your rate limit.',
    answer: v.object({ resource, received_at: time, delivery_id: deliveryId, record }),
    command: { name: 'held' },
  })),
  async list({ grant, session }, _, page) {
    const held = await readHeld(session, resourcesOf(grant.vertical), grant.account, page)
    const data = held.data.map(({ resource, delivery_id, record }) => {
      const received_at = toIsoTime(deliveryTime(delivery_id))
      return { resource, received_at, delivery_id, record }
    })
    return { ...held, data }
  },
})
