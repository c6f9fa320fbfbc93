// Written by scripts/codes.ts from data/iso-3166-1.csv: edit that, then `npm run generate`.

/** The alpha-2 codes of ISO 3166-1, each with its alpha-3 code; and `XK`, in common use for Kosovo. */
export const COUNTRIES: ReadonlyMap<string, string> = new Map(
  `
  AD-AND AE-ARE AF-AFG AG-ATG AI-AIA AL-ALB AM-ARM AO-AGO AQ-ATA AR-ARG AS-ASM AT-AUT AU-AUS
  AW-ABW AX-ALA AZ-AZE BA-BIH BB-BRB BD-BGD BE-BEL BF-BFA BG-BGR BH-BHR BI-BDI BJ-BEN BL-BLM
  BM-BMU BN-BRN BO-BOL BQ-BES BR-BRA BS-BHS BT-BTN BV-BVT BW-BWA BY-BLR BZ-BLZ CA-CAN CC-CCK
  CD-COD CF-CAF CG-COG CH-CHE CI-CIV CK-COK CL-CHL CM-CMR CN-CHN CO-COL CR-CRI CU-CUB CV-CPV
  CW-CUW CX-CXR CY-CYP CZ-CZE DE-DEU DJ-DJI DK-DNK DM-DMA DO-DOM DZ-DZA EC-ECU EE-EST EG-EGY
  EH-ESH ER-ERI ES-ESP ET-ETH FI-FIN FJ-FJI FK-FLK FM-FSM FO-FRO FR-FRA GA-GAB GB-GBR GD-GRD
  GE-GEO GF-GUF GG-GGY GH-GHA GI-GIB GL-GRL GM-GMB GN-GIN GP-GLP GQ-GNQ GR-GRC GS-SGS GT-GTM
  GU-GUM GW-GNB GY-GUY HK-HKG HM-HMD HN-HND HR-HRV HT-HTI HU-HUN ID-IDN IE-IRL IL-ISR IM-IMN
  IN-IND IO-IOT IQ-IRQ IR-IRN IS-ISL IT-ITA JE-JEY JM-JAM JO-JOR JP-JPN KE-KEN KG-KGZ KH-KHM
  KI-KIR KM-COM KN-KNA KP-PRK KR-KOR KW-KWT KY-CYM KZ-KAZ LA-LAO LB-LBN LC-LCA LI-LIE LK-LKA
  LR-LBR LS-LSO LT-LTU LU-LUX LV-LVA LY-LBY MA-MAR MC-MCO MD-MDA ME-MNE MF-MAF MG-MDG MH-MHL
  MK-MKD ML-MLI MM-MMR MN-MNG MO-MAC MP-MNP MQ-MTQ MR-MRT MS-MSR MT-MLT MU-MUS MV-MDV MW-MWI
  MX-MEX MY-MYS MZ-MOZ NA-NAM NC-NCL NE-NER NF-NFK NG-NGA NI-NIC NL-NLD NO-NOR NP-NPL NR-NRU
  NU-NIU NZ-NZL OM-OMN PA-PAN PE-PER PF-PYF PG-PNG PH-PHL PK-PAK PL-POL PM-SPM PN-PCN PR-PRI
  PS-PSE PT-PRT PW-PLW PY-PRY QA-QAT RE-REU RO-ROU RS-SRB RU-RUS RW-RWA SA-SAU SB-SLB SC-SYC
  SD-SDN SE-SWE SG-SGP SH-SHN SI-SVN SJ-SJM SK-SVK SL-SLE SM-SMR SN-SEN SO-SOM SR-SUR SS-SSD
  ST-STP SV-SLV SX-SXM SY-SYR SZ-SWZ TC-TCA TD-TCD TF-ATF TG-TGO TH-THA TJ-TJK TK-TKL TL-TLS
  TM-TKM TN-TUN TO-TON TR-TUR TT-TTO TV-TUV TW-TWN TZ-TZA UA-UKR UG-UGA UM-UMI US-USA UY-URY
  UZ-UZB VA-VAT VC-VCT VE-VEN VG-VGB VI-VIR VN-VNM VU-VUT WF-WLF WS-WSM XK-XKK YE-YEM YT-MYT
  ZA-ZAF ZM-ZMB ZW-ZWE
`
    .trim()
    .split(/\s+/)
    .map((pair) => [pair.slice(0, 2), pair.slice(3)]),
)

/** English names in use besides those of the runtime (Unicode CLDR), by alpha-2 codes. */
export const OTHER_NAMES: Record<string, readonly string[]> = {
  AE: ['UAE', 'Emirates'],
  BN: ['Brunei Darussalam'],
  BO: ['Bolivia, Plurinational State of'],
  BQ: ['Bonaire, Sint Eustatius and Saba', 'Bonaire'],
  CC: ['Cocos Islands', 'Keeling Islands'],
  CD: ['Democratic Republic of the Congo', 'DR Congo', 'DRC', 'Congo Kinshasa'],
  CG: ['Republic of the Congo', 'Congo', 'Congo Brazzaville'],
  CI: ['Ivory Coast'],
  CN: ["People's Republic of China"],
  CV: ['Cabo Verde'],
  CZ: ['Czech Republic'],
  DE: ['Federal Republic of Germany'],
  FK: ['Falkland Islands (Malvinas)', 'Malvinas'],
  FM: ['Micronesia, Federated States of'],
  GB: [
    'UK',
    'Great Britain',
    'England',
    'Scotland',
    'Wales',
    'Northern Ireland',
    'United Kingdom of Great Britain and Northern Ireland',
  ],
  GM: ['Republic of The Gambia'],
  HK: ['Hong Kong', 'Hong Kong SAR'],
  HM: ['Heard Island and McDonald Islands'],
  IE: ['Republic of Ireland'],
  IR: ['Islamic Republic of Iran'],
  KP: ["Korea, Democratic People's Republic of", 'DPRK'],
  KR: ['Korea, Republic of'],
  LA: ["Lao People's Democratic Republic", 'Lao PDR'],
  LY: ['Libyan Arab Jamahiriya'],
  MD: ['Moldova, Republic of'],
  MF: ['Saint Martin (French part)'],
  MK: ['The Republic of North Macedonia', 'Macedonia'],
  MM: ['Myanmar', 'Burma'],
  MO: ['Macao', 'Macau'],
  NL: ['Netherlands (Kingdom of the)', 'Holland'],
  PN: ['Pitcairn'],
  PS: ['State of Palestine', 'Palestine'],
  RU: ['Russian Federation'],
  SA: ['KSA', 'Kingdom of Saudi Arabia'],
  SH: ['Saint Helena, Ascension and Tristan da Cunha'],
  SX: ['Sint Maarten (Dutch part)'],
  SY: ['Syrian Arab Republic'],
  SZ: ['Swaziland'],
  TL: ['East Timor'],
  TR: ['Turkey'],
  TW: ['Taiwan, Province of China'],
  TZ: ['United Republic of Tanzania'],
  UM: ['United States Minor Outlying Islands'],
  US: ['United States of America'],
  VA: ['Holy See (Vatican City State)', 'Vatican', 'Holy See', 'Vatican City State'],
  VE: ['Venezuela, Bolivarian Republic of'],
  VN: ['Viet Nam', 'Socialist Republic of Vietnam'],
  XK: ['Republic of Kosovo'],
}
