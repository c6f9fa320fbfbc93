// Written by scripts/currencies.ts from data/iso-4217.csv: edit that, then `npm run generate`.

/** The codes of ISO 4217 that are in use, as published in 2026-02. */
export const CURRENCIES: ReadonlySet<string> = new Set(
  `
  AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BHD BIF BMD BND BOB BOV BRL BSD BTN BWP
  BYN BZD CAD CDF CHE CHF CHW CLF CLP CNY COP COU CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN
  ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ GYD HKD HNL HTG HUF IDR ILS INR IQD IRR ISK
  JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD
  MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP
  PKR PLN PYG QAR RON RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP
  SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH UGX USD USN UYI UYU UYW UZS VED VES VND VUV
  WST XAD XAF XAG XAU XBA XBB XBC XBD XCD XCG XDR XOF XPD XPF XPT XSU XTS XUA XXX YER ZAR
  ZMW ZWG
`
    .trim()
    .split(/\s+/),
)

/** The codes that were withdrawn since 2015, each with its month. */
export const WITHDRAWN: ReadonlyMap<string, string> = new Map([
  ['ANG', '2025-03'],
  ['BGN', '2026-01'],
  ['BYR', '2017-01'],
  ['CUC', '2021-06'],
  ['HRK', '2023-01'],
  ['MRO', '2017-12'],
  ['SLL', '2023-12'],
  ['STD', '2017-12'],
  ['VEF', '2018-08'],
  ['ZWL', '2024-09'],
])
