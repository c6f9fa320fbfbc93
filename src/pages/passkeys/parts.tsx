import type { Child } from 'hono/jsx'
import type { Words } from '../../platform/documents/texts.ts'

/** Renders that something was refused. */
export const Problem = ({ text }: { text: string }) => (
  <p class="notice bad" role="alert">
    {text}
  </p>
)

/** Renders a form that a passkey answers. It is hidden until the script of the page shows it; a plain one says nothing then. */
export const PasskeyForm = (props: {
  words: Words
  kind: 'create' | 'get'
  action: string
  options: object
  state: string
  submit: string
  /** What the button says to a screen reader, if that differs. */
  label?: string
  /** Whether it is not the main thing to do. */
  isPlain?: boolean
  /** What it sends unseen. */
  values: Readonly<Record<string, string>>
  children?: Child
}) => (
  <>
    {!props.isPlain && (
      <p class="notice warn" data-no-passkeys>
        {props.words.no_passkeys}
      </p>
    )}
    <form
      method="post"
      action={props.action}
      class={props.isPlain ? undefined : 'change'}
      hidden
      data-passkey={props.kind}
      data-options={JSON.stringify(props.options)}
    >
      <input type="hidden" name="state" value={props.state} />
      <input type="hidden" name="credential" value="" />
      {Object.entries(props.values).map(([name, value]) => (
        <input type="hidden" name={name} value={value} />
      ))}
      {props.children}
      <button type="submit" class={props.isPlain ? 'plain' : undefined} aria-label={props.label}>
        {props.submit}
      </button>
      <p role="status" data-failed={props.words.cancelled} data-known={props.words.passkey_known} />
    </form>
  </>
)
