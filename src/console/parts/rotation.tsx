import type { Child } from 'hono/jsx'
import type { Change, Visit } from '../page.ts'
import { Pairs } from './fields.tsx'
import { ChangeForm, ConfirmForm } from './forms.tsx'

// The forms that replace a secret.

/** The parts of a credential in words. */
const SECRETS: Readonly<Record<string, string>> = {
  affiliate_key: 'Key',
  client_id: 'Client ID',
  client_secret: 'Client secret',
  id: 'ID',
  secret: 'Secret',
  token: 'Token',
  url: 'URL',
}

/** Renders a secret. It is shown only here. */
export const Secret = ({ title, values }: { title: string; values: Record<string, string> }) => (
  <>
    <p>
      <strong>{title}</strong> Copy the secret now: it is not shown again.
    </p>
    <Pairs
      pairs={Object.entries(values).map(([name, value]) => [
        SECRETS[name] ?? name,
        <code>{value}</code>,
      ])}
    />
  </>
)

/** Returns a function that renders those of these members that an answer has. */
export const secretOf =
  (title: string, ...names: readonly string[]) =>
  (answer: unknown): Child => {
    const values = answer as Record<string, string>
    const shown = names.flatMap((name) => (values[name] ? [[name, values[name]] as const] : []))
    return <Secret title={title} values={Object.fromEntries(shown)} />
  }

interface Rotation {
  /** Returns the path of the API to which the request is sent. */
  readonly path: (visit: Visit) => string
  readonly show: (answer: unknown) => Child
  /** Returns the name that a member types before the old secret ends at once. */
  readonly confirm: (visit: Visit) => string
}

/** Returns the changes of the forms of `RotationForms`. */
export const rotationChanges = ({ path, show, confirm }: Rotation): Record<string, Change> => ({
  rotate: {
    done: '',
    show,
    request: (values, visit) => ({
      method: 'POST',
      path: path(visit),
      body: { overlap: values('overlap') },
    }),
  },
  replace: {
    done: '',
    show,
    confirm,
    request: (_, visit) => ({ method: 'POST', path: path(visit), body: { overlap: 'none' } }),
  },
})

/** Renders the forms that replace a secret: with an overlap, or at once. `secret` names what is replaced. */
export const RotationForms = ({
  visit,
  secret,
  name,
}: {
  visit: Visit
  secret: string
  name: string
}) => (
  <>
    <ChangeForm
      visit={visit}
      change="rotate"
      submit={`Rotate the ${secret}`}
      needs="approver"
      fields={[
        {
          name: 'overlap',
          label: 'Overlap',
          hint: `How long the old ${secret} stays valid beside the new one.`,
          options: [
            ['24h', '24 hours'],
            ['1h', '1 hour'],
            ['7d', '7 days'],
          ],
        },
      ]}
    />
    <ConfirmForm
      visit={visit}
      change="replace"
      submit={`Replace the ${secret} at once`}
      needs="approver"
      name={name}
    >
      <p>
        For a {secret} that somebody may have seen. The old one ends at once, without an overlap.
      </p>
    </ConfirmForm>
  </>
)
