import { viewOf } from '../platform/auth/affiliate-view.ts'
import { findAccount, pseudonymKeyOf } from '../platform/directory/accounts.ts'
import type { ClaimedMessage } from '../webhooks/db/queue.ts'
import { fillMacros, MACROS, type MacroValues, macroProblem } from '../webhooks/macros.ts'
import { viewContextOf } from './pseudonyms.ts'
import { HIDDEN, visible } from './view.ts'

const isText = (value: unknown): value is string => typeof value === 'string'

/**
 * Returns where the event of a postback is sent, and its data: what the account shows the affiliate now, as
 * the answers of the API show it.
 *
 * @throws Error if the account does not exist any more.
 */
export async function addressPostback(
  env: Env,
  message: ClaimedMessage & { readonly affiliate_id: string },
) {
  const { account: id, affiliate_id: own, url, event, type, at, data } = message
  const account = await findAccount(env.DB, id)
  if (!account) throw new Error('The account of a postback does not exist.')
  const view = viewOf(account)
  const values = { ...JSON.parse(data), event: type, id: event, affiliate_id: own }
  const name = type === 'first_deposit' ? type : 'postback'
  const answer = { [name]: { ...values, time: new Date(at).toISOString() } }
  const context = await viewContextOf(answer, view, await pseudonymKeyOf(env.DB, account), own)
  const seen = visible(answer, context) as Record<string, Record<string, unknown>>
  const [shown = {}] = Object.values(seen)
  const isOfDraft = type === 'qualified' && !view.drafts
  const hidden = isOfDraft ? ['amount', 'currency'] : []
  const macros: MacroValues = Object.fromEntries(
    MACROS.flatMap((macro) => {
      const value = shown[macro]
      const isShown = isText(value) && value !== HIDDEN && !hidden.includes(macro)
      return isShown ? [[macro, value]] : []
    }),
  )
  return { url: url && filledUrl(env, url, macros), data: JSON.stringify(macros) }
}

/** Returns a URL with values in place of its macros; null if events must not be sent to it. */
export const filledUrl = (env: Env, url: string, values: MacroValues): string | null =>
  macroProblem(url, env) === null ? fillMacros(url, values) : null
