import type { Child } from 'hono/jsx'
import { Data } from '../pages/parts/data.tsx'
import { WORDS } from '../platform/documents/texts.ts'
import type { Language } from '../platform/languages.ts'

/** What every page of the portal shows around its content. */
export interface Frame {
  readonly language: Language
  /** The id and the name of the account. */
  readonly account: { readonly id: string; readonly name: string; readonly self_billing?: string }
  readonly title: string
  /** Who is signed in, and the token of their forms; absent before the sign-in. */
  readonly signedIn?: SignedInFrame
  readonly children?: Child
}

interface SignedInFrame {
  readonly name: string
  readonly affiliate: string
  readonly csrf: string
  readonly here: Place
  /** What the member has not seen, by its page. */
  readonly news: { readonly [P in Place]?: string | undefined }
}

/** The pages of the portal, by the last part of their address. */
export const PLACES = {
  overview: '',
  statements: '/statements',
  customers: '/customers',
  sub_affiliates: '/sub-affiliates',
  payments: '/payments',
  invoices: '/invoices',
  getting_paid: '/getting-paid',
  links: '/links',
  questions: '/questions',
  postbacks: '/postbacks',
  notices: '/notices',
  passkeys: '/passkeys',
} as const

/** A page of the portal. */
export type Place = keyof typeof PLACES

/** Returns the pages of an account's portal: those of invoices only if it writes them. */
const placesOf = ({ self_billing }: Frame['account']) =>
  (Object.entries(PLACES) as [Place, string][]).filter(
    ([place]) => place !== 'invoices' || self_billing === 'invoice',
  )

/** Returns the address of a page of an account's portal. */
export const portalPath = (account: string, rest = '') =>
  `/portal/${encodeURIComponent(account)}${rest}`

/** Says that there is something that the member has not seen. */
const News = ({ text }: { text: string | undefined }) =>
  text === undefined ? null : <small class="badge good">{text}</small>

/** Renders a page of the portal. */
export const PortalPage = (frame: Frame) => {
  const { language, account, title, signedIn, children } = frame
  const words = WORDS[language]
  return (
    <html lang={language}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>
          {title} · {account.name}
        </title>
        <link rel="icon" href="/assets/favicon.svg" type="image/svg+xml" />
        <link rel="stylesheet" href="/assets/page.css" />
        <link rel="stylesheet" href="/assets/console.css" />
        <link rel="stylesheet" href="/assets/portal.css" />
        <script type="module" src="/assets/portal.js" />
      </head>
      <body class="console portal">
        <a class="skip" href="#main">
          {words.skip}
        </a>
        <header class="top">
          <a href={portalPath(frame.account.id)} class="brand">
            <Data text={frame.account.name} />
          </a>
          {frame.signedIn && (
            <form method="post" action={portalPath(frame.account.id, '/sign-out')} class="who">
              <input type="hidden" name="csrf" value={frame.signedIn.csrf} />
              <span>
                <Data text={frame.signedIn.name} />{' '}
                <small>
                  <Data text={frame.signedIn.affiliate} />
                </small>
              </span>
              <button type="submit" class="plain">
                {words.sign_out}
              </button>
            </form>
          )}
        </header>
        {signedIn && (
          <nav class="pages" aria-label={words.title}>
            <details>
              <summary>
                <span>{words.menu}</span> <strong>{words[signedIn.here]}</strong>{' '}
                {Object.values(signedIn.news).map((text) => (
                  <News text={text} />
                ))}
              </summary>
              <div>
                {placesOf(account).map(([place, path]) => (
                  <a
                    href={portalPath(account.id, path)}
                    aria-current={place === signedIn.here ? 'page' : undefined}
                  >
                    {words[place]} <News text={signedIn.news[place]} />
                  </a>
                ))}
              </div>
            </details>
          </nav>
        )}
        <main id="main" tabindex={-1}>
          <h1>{title}</h1>
          {children}
        </main>
      </body>
    </html>
  )
}
