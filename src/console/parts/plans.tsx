import { parseField } from '../form.ts'
import { apiPath, type Change, type Visit } from '../page.ts'
import { ChangeForm, Field } from './forms.tsx'
import { To } from './money.tsx'

// The form of a version of a plan.

/** What `PUT …/plans/{plan}` returns. */
interface Stored {
  readonly plan: string
  readonly version: number
  readonly effective_from: string
  readonly outcome: 'created' | 'unchanged'
  readonly warnings: readonly { readonly pointer: string; readonly message: string }[]
}

/** The template plans, which are files of `/assets`. */
const TEMPLATES = ['cpa', 'hybrid', 'ib-per-lot', 'master-ib', 'prop-challenge', 'revenue-share']

/** Shows which version is stored, and the warnings of its checks. */
function Done({ answer, visit }: { answer: Stored; visit: Visit }) {
  const { plan, version, effective_from, outcome, warnings } = answer
  return (
    <>
      <p>
        <To visit={visit} at={['plans', plan]} children={plan} />, version {version}, from{' '}
        {effective_from}:{' '}
        {outcome === 'created' ? 'stored.' : 'the latest version has these terms already.'}
      </p>
      <ul>
        {warnings.map(({ pointer, message }) => (
          <li>
            <code>{pointer}</code> {message}
          </li>
        ))}
      </ul>
    </>
  )
}

/** The change that puts a version of the plan of the path, or else of the form. */
export const putVersion: Change = {
  done: '',
  request: (values, { account, params }) => ({
    method: 'PUT',
    path: apiPath(account, 'plans', params.plan ?? values('plan')),
    body: parseField('terms', values('terms')),
  }),
  show: (answer, visit) => <Done answer={answer as Stored} visit={visit} />,
}

/** Renders the form of a version. A script copies a template into it. */
export const VersionForm = ({ visit, terms }: { visit: Visit; terms: string }) => (
  <ChangeForm visit={visit} change="put" submit="Store this version">
    <p class="quick">
      Templates:
      {TEMPLATES.map((name) => (
        <a href={`/assets/plan-${name}.json`} data-copy-to="put-terms">
          {name}
        </a>
      ))}
    </p>
    {visit.params.plan === undefined && (
      <Field visit={visit} change="put" name="plan" label="Id of the plan" required />
    )}
    <Field
      visit={visit}
      change="put"
      name="terms"
      type="area"
      label="Terms as JSON"
      hint="A version never changes. It applies from effective_from on."
      value={terms}
      required
    />
  </ChangeForm>
)
