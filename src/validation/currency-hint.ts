import { CURRENCIES } from './iso-4217.ts'
import { quote } from './quote.ts'
import { suggestCode } from './suggest.ts'

/** Well-known codes of crypto-assets. Some differ from a currency code by one letter only. */
const CRYPTO_CODES: ReadonlySet<string> = new Set(
  (
    'ADA ATOM AVAX BCH BNB BTC BUSD DAI DASH DOGE DOT ETC ETH LINK LTC MATIC POL SHIB SOL TON TRX ' +
    'TUSD USDC USDT XBT XLM XMR XRP ZEC'
  ).split(' '),
)

/** ISO 4217 codes that nobody means: for testing, and for no currency. */
const SPECIAL_CODES: readonly string[] = ['XTS', 'XXX']

/** The codes that a hint may suggest. */
const SUGGESTED = [...CURRENCIES].filter((code) => !SPECIAL_CODES.includes(code))

/** Returns what to send instead of a code that is not a currency, or null. */
export function currencyHint(sent: string): string | null {
  if (CRYPTO_CODES.has(sent.trim().toUpperCase())) {
    return 'Convert the amount to an ISO 4217 currency.'
  }
  const code = suggestCode(sent, SUGGESTED)
  return code && `Did you mean ${quote(code)}?`
}
