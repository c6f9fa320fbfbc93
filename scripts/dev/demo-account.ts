/** A demo account as in `.demo.json`. A partner has an OAuth client, a brand a Brand Token. */
export interface DemoAccount {
  account: string
  name: string
  vertical: string
  client_id?: string
  client_secret?: string
  brand_token?: string
  /** Its link: `/go/{link_id}` redirects visitors to its landing page. */
  link_id?: string
}
