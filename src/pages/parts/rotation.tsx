import type { ShownSecret } from '../base/session.ts'
import { CopiedText } from './data.tsx'
import { Pairs } from './fields.tsx'
import { ChangeForm, type Input } from './forms.tsx'

// The forms that replace a secret.

/** The parts of a credential in words. */
const SECRETS: Readonly<Record<string, string>> = {
  affiliate_key: 'Key',
  brand_token: 'Brand Token',
  client_id: 'Client ID',
  client_secret: 'Client secret',
  id: 'ID',
  member_key: 'Key',
  secret: 'Secret',
  token: 'Token',
  url: 'URL',
}

/** Renders a new secret, each part with a button that copies it. It is shown only here. */
export const Secret = ({ shown }: { shown: ShownSecret }) => (
  <div class="notice good" role="status">
    <p>
      <strong>{shown.title}</strong> {shown.note}
    </p>
    <Pairs pairs={shown.values.map(([label, text]) => [label, <CopiedText text={text} />])} />
  </div>
)

/** Returns a function that takes those of these members that an answer has for what is shown once. */
export const secretOf =
  (title: string, ...names: readonly string[]) =>
  (answer: unknown): ShownSecret => {
    const values = answer as Record<string, string>
    return {
      title,
      note: 'Copy the secret now: it is not shown again.',
      values: names.flatMap((name) => {
        const value = values[name]
        return value ? [[SECRETS[name] ?? name, value] as const] : []
      }),
    }
  }

/** Renders the form that replaces a secret. `secret` names what is replaced. */
export const RotationForm = ({
  secret,
  change = 'rotate',
  fields = [],
}: {
  secret: string
  change?: string
  /** What names the one of several whose secret is replaced. */
  fields?: readonly Input[]
}) => (
  <ChangeForm
    change={change}
    submit={`Rotate the ${secret}`}
    needs="approver"
    fields={[
      ...fields,
      {
        name: 'overlap',
        label: `The old ${secret}`,
        options: [
          ['24h', 'Stays valid for 24 hours'],
          ['1h', 'Stays valid for 1 hour'],
          ['7d', 'Stays valid for 7 days'],
          ['none', 'Ends at once: somebody may have seen it'],
        ],
      },
    ]}
  />
)
