import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { at } from '../days.ts'
import { ada, deposit } from '../partner.ts'
import { explainAllForms } from './explain-forms.ts'
import { OPEN, randomBrand, randomPartner } from './random-firms.ts'
import { randomSource } from './worlds.ts'

// What explains the statements of random firms, whose records and settings change after months are closed.

const WORLDS = env.MODEL_RUNS || 1
const FIRST_SEED = env.SEED * 4000
/** How often a month is closed, and the changes before each. */
const ROUNDS = 5
const CHANGES = 14

/** Pays or takes back an amount of a customer of a-3, whose plan writes off what a statement loses. */
const pay = (firm: Awaited<ReturnType<typeof randomPartner>>, type: string, day: string) =>
  firm.post('transactions', [
    {
      ...deposit,
      transaction_id: type,
      customer_id: 'loses',
      transaction_type: type,
      amount_currency: 500,
      transaction_date: `2030-05-0${day}T08:00:00Z`,
    },
  ])

test(`§14 every line and adjustment of ${WORLDS} random partners is explained in every form, and replays to its amount`, async () => {
  let restored = 0
  for (let seed = FIRST_SEED; seed < FIRST_SEED + WORLDS; seed++) {
    const account = `why-${seed}`
    const from = randomSource(seed)
    const firm = await randomPartner(account, from)
    const signup_date = '2030-05-01T08:00:00Z'
    await firm.post('customers', [
      { ...ada, customer_id: 'loses', affiliate_id: 'a-3', signup_date },
    ])
    await pay(firm, 'withdrawal', '2')
    restored += await explainYear(account, firm, () => pay(firm, 'deposit', '3'))
  }
  expect(restored).toBeGreaterThan(0)
})

test(`§14 every line and adjustment of ${WORLDS} random brands is explained in every form, and replays to its amount`, async () => {
  for (let seed = FIRST_SEED; seed < FIRST_SEED + WORLDS; seed++) {
    const from = randomSource(seed)
    await explainYear(`why-${seed}`, await randomBrand(`why-${seed}`, from))
  }
})

type Firm = Pick<Awaited<ReturnType<typeof randomPartner>>, 'change' | 'close' | 'run'>

/** Closes months between changes, and explains what statements have then. Returns how much restores what was written off. */
async function explainYear(account: string, firm: Firm, late?: () => Promise<unknown>) {
  for (let round = 0; round < ROUNDS; round++) {
    at(`2030-12-05T00:0${round + 1}:00.000Z`)
    for (let n = 0; n < CHANGES; n++) await firm.change()
    if (round === ROUNDS - 1) await late?.()
    else await firm.close()
  }
  await firm.run(OPEN)
  const found = await explainAllForms(account)
  expect(found.length).toBeGreaterThan(0)
  return found.filter(({ of }) => of.line === null).length
}
