import type { AnyOperation } from '../../http/operation.ts'
import { calling } from '../calling.ts'
import type { Change, Visit } from '../page.ts'
import type { ShownSecret } from '../session.ts'
import { CopiedText } from './data.tsx'
import { Pairs } from './fields.tsx'
import { ChangeForm, ConfirmForm } from './forms.tsx'

// The forms that replace a secret.

/** The parts of a credential in words. */
const SECRETS: Readonly<Record<string, string>> = {
  affiliate_key: 'Key',
  brand_token: 'Brand Token',
  client_id: 'Client ID',
  client_secret: 'Client secret',
  id: 'ID',
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

/**
 * Returns the changes of the forms of `RotationForms`, which call an operation. `confirm` returns the name that a member
 * types before the old secret ends at once, and `kind` tells
 * the forms of a page apart.
 */
export const rotationChanges = (
  of: AnyOperation,
  done: Change['done'],
  confirm: (visit: Visit) => string,
  kind = '',
): Record<string, Change> => ({
  [`rotate${kind}`]: calling(of, done),
  [`replace${kind}`]: { ...calling(of, done, () => ({ overlap: 'none' })), confirm },
})

/** Renders the forms that replace a secret: with an overlap, or at once. `secret` names what is replaced. */
export const RotationForms = ({
  secret,
  name,
  kind = '',
}: {
  secret: string
  name: string
  kind?: string
}) => (
  <>
    <ChangeForm
      change={`rotate${kind}`}
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
      change={`replace${kind}`}
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
