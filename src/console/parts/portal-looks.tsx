import type { getAccount } from '../../admin/accounts.ts'
import type { LogoMeta } from '../../admin/logo.ts'
import type { AnswerOf } from '../../http/operation.ts'
import type { Values, Visit } from '../page.ts'
import { Refusal } from './forms.tsx'
import { canManage, FileField, PostForm } from './payout-forms.tsx'

// How the portal of an account looks: its logo, and the color of links and buttons.

type Looks = Pick<AnswerOf<typeof getAccount>, 'account' | 'accent_color' | 'logo'>

const LABELS = new Map([
  ['/accent_color', 'Color of links and buttons'],
  ['/logo', 'Logo'],
])

/** Renders the logo of an account as its portal shows it. */
const Shown = ({ account, logo }: { account: string; logo: LogoMeta }) => (
  <p>
    <img
      src={`/portal/${encodeURIComponent(account)}/logo?v=${logo.digest}`}
      alt="The present logo"
      class="logo"
    />
  </p>
)

/** Renders the form with the logo and the color of the portal. */
export const PortalLooksForm = ({ visit, looks }: { visit: Visit; looks: Looks }) => {
  const { account, accent_color = '', logo } = looks
  const { refused } = visit
  if (!canManage(visit)) return <p class="note">Only the role manager can change this.</p>
  const isRefused = refused?.change === 'looks'
  return (
    <>
      {logo && <Shown account={account} logo={logo} />}
      <PostForm visit={visit} id="change-looks" hasFile>
        {isRefused && <Refusal {...refused} labels={LABELS} />}
        <input type="hidden" name="change" value="looks" />
        <div class="field">
          <label for="accent-color">Color of links and buttons</label>
          <input
            id="accent-color"
            name="accent_color"
            value={isRefused ? refused.values('accent_color') : accent_color}
            placeholder="#0a6472"
            autocomplete="off"
            aria-describedby="accent-color-about"
          />
          <p id="accent-color-about" class="note">
            Six digits after #, such as #0a6472. It must be dark enough to be read on white. On dark
            screens a lighter one stands for it. Empty: the color of the service.
          </p>
        </div>
        <FileField
          id="logo-file"
          label={logo ? 'Another logo' : 'Logo'}
          accept=".svg,.png,image/svg+xml,image/png"
        >
          An SVG or PNG image of at most 50 KB, without scripts. It stands beside the name of the
          account.
        </FileField>
        {logo && (
          <div class="field">
            <label>
              <input type="checkbox" name="remove_logo" value="yes" /> Remove the logo
            </label>
          </div>
        )}
        <button type="submit">Save how the portal looks</button>
      </PostForm>
    </>
  )
}

/** Returns the change of an account that the form asks for. A file that is not sent leaves the logo as it is. */
export function changedLooks(values: Values): object {
  const image = values('file:base64')
  const color = values('accent_color').trim()
  return {
    accent_color: color === '' ? null : color,
    ...(values('remove_logo') === 'yes' && { logo: null }),
    ...(image !== '' && { logo: `data:;base64,${image}` }),
  }
}
