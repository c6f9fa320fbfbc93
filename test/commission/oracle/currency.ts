import { fixed, type Rational, round } from './rational.ts'

// The minor units of ISO 4217 that differ from 2.
const MINOR_UNITS: Record<string, number> = {
  BHD: 3,
  BIF: 0,
  CLF: 4,
  CLP: 0,
  DJF: 0,
  GNF: 0,
  IQD: 3,
  ISK: 0,
  JOD: 3,
  JPY: 0,
  KMF: 0,
  KRW: 0,
  KWD: 3,
  LYD: 3,
  OMR: 3,
  PYG: 0,
  RWF: 0,
  TND: 3,
  UGX: 0,
  UYI: 0,
  UYW: 4,
  VND: 0,
  VUV: 0,
  XAF: 0,
  XOF: 0,
  XPF: 0,
}

const minorUnits = (currency: string) => MINOR_UNITS[currency] ?? 2

/** Rounds an amount to the minor unit of its currency, half to even. */
export const roundMoney = (amount: Rational, currency: string) =>
  round(amount, minorUnits(currency))

/** Writes an amount with the digits of its currency. */
export const money = (amount: Rational, currency: string) => fixed(amount, minorUnits(currency))
