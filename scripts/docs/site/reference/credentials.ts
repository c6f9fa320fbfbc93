import { type Html, html } from '../html.ts'
import type { Spec } from '../spec.ts'
import { endpointsOf, type ReferencePage } from './pages.ts'
import { schemeOf } from './sample.ts'

// The fields for the credentials with which the forms of a page are sent.

const FIELDS: Record<string, { label: string; hint: string }> = {
  oauth: { label: 'Access token', hint: 'Get one above, or paste one. It expires after an hour.' },
  brandToken: { label: 'Brand Token', hint: 'Begins with tbt_live_ or tbt_test_.' },
  affiliateKey: { label: 'Key of an affiliate', hint: 'Begins with taf_live_ or taf_test_.' },
  adminKey: { label: 'Admin key', hint: 'In development, npm run dev writes it to .demo.json.' },
}

const TOKEN_FORM = html`<form method="post" class="client" data-method="POST" data-path="/oauth/token" data-scheme="" data-type="application/x-www-form-urlencoded">
<input type="hidden" name="grant_type" data-target="form" value="client_credentials">
<p><label for="client_id">client_id</label>
<input id="client_id" name="client_id" data-target="form" required autocomplete="off" spellcheck="false"></p>
<p><label for="client_secret">client_secret</label>
<input id="client_secret" name="client_secret" data-target="form" type="password" required autocomplete="off"></p>
<p><button type="submit">Get a token</button></p>
<div class="answer" role="status"></div>
</form>
`

/** Renders the button that sends the sample records of a page, in an order in which all succeed. */
function samplesButton(ids: readonly string[]): Html {
  return html`<div class="records" data-operations="${ids.join(' ')}">
<p><button type="button" id="send-samples">Send the sample records</button></p>
<p>Sends each sample record of this page, customers first, so that every example below finds its
data. Use it with a test account.</p>
<div class="answer" role="status"></div>
</div>
`
}

/** Renders the credentials of a page. Returns null for a page whose operations are all public. */
export function credentialsSection(page: ReferencePage, spec: Spec): Html | null {
  const operations = endpointsOf(page, spec).map(({ operation }) => operation)
  const schemes = [...new Set(operations.map(schemeOf))].filter((one) => one !== undefined)
  if (schemes.length === 0) return null
  const sends = operations.map(({ operationId }) => operationId).filter((id) => /^send/.test(id))
  return html`<section id="credentials">
<h2><a href="#credentials">Credentials</a></h2>
<p>The forms on this page send requests to this service with these credentials. The credentials stay
in this tab and are forgotten when you leave the page.</p>
${schemes.includes('oauth') && TOKEN_FORM}<div class="secrets">
${schemes.map((scheme) => {
  const { label, hint } = FIELDS[scheme] ?? { label: scheme, hint: '' }
  return html`<p><label for="${scheme}">${label}</label>
<input id="${scheme}" type="password" autocomplete="off" aria-describedby="${scheme}-hint">
<small id="${scheme}-hint">${hint}</small></p>
`
})}</div>
${sends.length > 0 && samplesButton(sends)}</section>
`
}
