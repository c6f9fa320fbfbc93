import { customerOf } from '../commission/build.ts'
import type { World } from '../commission/world.ts'

// A small world of fees, whose cases can be counted by hand.

const fee = (transaction_id: string, customer_id: string, day: string) => ({
  ...{ transaction_id, customer_id, transaction_type: 'reset_fee', amount_currency: 99 },
  ...{ currency: 'EUR', at: Date.parse(`${day}T12:00:00Z`), status: 'approved' },
})

/** c-a pays three fees within three days, c-b within twelve; c-m moves from a to b between its fees. */
export const WORLD: World = {
  vertical: 'prop-trading',
  affiliates: ['a', 'b', 'other'].map((affiliate_id) => ({
    affiliate_id,
    parents: [{ from: null, parent: null }],
  })),
  status_map: {},
  customers: [
    customerOf('c-a', 'a'),
    customerOf('c-b', 'b'),
    { ...customerOf('c-o', 'other'), signup: Date.parse('2026-04-20T10:00:00Z') },
    {
      ...customerOf('c-m', 'a'),
      affiliates: [
        { from: null, affiliate_id: 'a' },
        { from: '2026-09-03', affiliate_id: 'b' },
      ],
    },
  ],
  transactions: [
    ...['2026-05-01', '2026-05-02', '2026-05-03'].map((day) => fee(`o-${day}`, 'c-o', day)),
    fee('t1', 'c-a', '2026-09-01'),
    fee('t2', 'c-a', '2026-09-02'),
    fee('t3', 'c-a', '2026-09-03'),
    fee('t4', 'c-b', '2026-09-01'),
    fee('t5', 'c-b', '2026-09-06'),
    fee('t6', 'c-b', '2026-09-12'),
    fee('t7', 'c-m', '2026-09-01'),
    fee('t8', 'c-m', '2026-09-02'),
    fee('t9', 'c-m', '2026-09-03'),
  ],
  activity: [],
  events: [],
  rates: [],
  plans: [],
  assignments: [],
}
