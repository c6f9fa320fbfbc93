import { resolveDatabase } from '../db/database.ts'
import { DEFAULT_PRODUCT_FIELD, listDefinitions } from '../db/directory/event-definitions.ts'
import {
  type ErasedCustomer,
  type KeptFields,
  maskNextActivities,
  pendingErasures,
} from '../db/records/erased-activities.ts'

/** The accounts and the steps of one run of the cron job for one database; the next run goes on. */
const ACCOUNTS_PER_RUN = 20
const STEPS_PER_RUN = 100

/** Masks activities of an erased customer in at most `steps` steps; returns whether all are done. */
export async function maskActivities(
  env: Env,
  db: D1Database,
  customer: ErasedCustomer,
  steps: number,
): Promise<boolean> {
  const fields = await keptFieldsOf(env, customer.account)
  for (let step = 0; step < steps; step++) {
    if (await maskNextActivities(db, customer, fields)) return true
  }
  return false
}

/**
 * Goes on with the erasures of one database that are not complete. Each account gets the same number
 * of steps, so that a large one does not hold up the others.
 */
export async function continueErasures(env: Env, binding: string): Promise<void> {
  const db = resolveDatabase(env, binding)
  let steps = STEPS_PER_RUN
  let pending = await pendingErasures(db, ACCOUNTS_PER_RUN)
  const fields = new Map<string, KeptFields>()
  while (pending.length > 0 && steps > 0) {
    for (const customer of pending.slice(0, steps)) {
      const { account } = customer
      const known = fields.get(account) ?? (await keptFieldsOf(env, account))
      fields.set(account, known)
      await maskNextActivities(db, customer, known)
    }
    steps -= pending.length
    pending = await pendingErasures(db, ACCOUNTS_PER_RUN)
  }
}

/** Returns the members with the product line and the status of each defined event. */
async function keptFieldsOf(env: Env, account: string): Promise<KeptFields> {
  const definitions = await listDefinitions(env.DB, account)
  return definitions.flatMap(({ eventname, product, status_member }) =>
    [product?.field ?? DEFAULT_PRODUCT_FIELD, status_member].flatMap((field) =>
      field === null ? [] : [[eventname, field] as const],
    ),
  )
}

/** Returns whether the customers of an account have activities, which are those of a brand. */
export const isBrand = (vertical: string) => vertical === 'igaming'
