import { calling } from '../../pages/calling.ts'
import { accountPath, type Change, dayBefore, useVisit, type Visit } from '../../pages/page.ts'
import { dayWords, visible } from '../../pages/parts/data.tsx'
import { AccountLink } from '../../pages/parts/fields.tsx'
import { ChangeForm, Field, type Option } from '../../pages/parts/forms.tsx'
import { METHODS, type Method } from '../../payouts/model.ts'
import { previewBatch } from '../../payouts/operations/batches.ts'
import { PAYER } from '../../payouts/operations/payees.ts'
import type { AnswerOf } from '../../platform/http/operation.ts'

/** What members call the ways of paying. */
export const METHOD_WORDS: Readonly<Record<Method, string>> = {
  sepa: 'SEPA',
  bank: 'Other bank transfers',
  wise: 'Wise',
  paypal: 'PayPal',
  manual: 'Outside of the service',
}

/** Returns the payers from which a batch can pay. */
export async function readPayers({ api, account }: Visit): Promise<Option[]> {
  const { data } = await api.call(PAYER.list, { account })
  return data.map(({ payer, details }) => {
    const { name, iban, currency } = Object(details)
    return [payer, visible([name, iban, currency].filter(Boolean).join(', '))]
  })
}

/** Returns a day, or the Monday after it: banks execute nothing on weekends. */
function workingDay(day: number): string {
  const weekday = new Date(day).getUTCDay()
  return dayBefore(day, weekday === 0 ? -1 : weekday === 6 ? -2 : 0)
}

/** Previews a batch, and leads to its page. */
export const prepareChange: Change = {
  ...calling(previewBatch, 'The batch is prepared. Nothing is paid until it is confirmed.'),
  next: (answer, { account }) =>
    accountPath(account, 'batches', (answer as AnswerOf<typeof previewBatch>).id),
}

/** Renders the form that prepares a batch, by the method of the last one. What it proposes can be changed. */
export function PrepareBatch(
  { payers, method = 'sepa' }: { payers: readonly Option[]; method: Method | undefined },
  { today, refused } = useVisit(),
) {
  const [first] = payers
  const day = workingDay(today)
  if (!first) {
    return (
      <p class="notice">
        To pay by a file for your bank, <AccountLink at={['payers']} children="add the account" />{' '}
        from which you pay.
      </p>
    )
  }
  const methods = METHODS.map((one) => [one, METHOD_WORDS[one]] as const)
  return (
    <ChangeForm change="prepare" submit="Prepare a batch">
      <details open={refused?.change === 'prepare'}>
        <summary>
          {METHOD_WORDS[method]} on {dayWords(day)} from {first[1]}
        </summary>
        <Field change="prepare" name="payer" label="From" options={payers} />
        <Field change="prepare" name="method" label="By" options={methods} value={method} />
        <Field change="prepare" name="execute_on" label="On" type="date" value={day} required />
      </details>
    </ChangeForm>
  )
}
