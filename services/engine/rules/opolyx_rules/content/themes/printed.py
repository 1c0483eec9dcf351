"""Names that are the same in every theme: corners, taxes and cards. Rows: en, id, zh-Hant, hi."""

from typing import Final

_Names = tuple[str, str, str, str]

FIXED_SQUARES: Final[dict[int, _Names]] = {
    0: ("Start", "Start", "起點", "प्रारंभ"),
    4: ("Income Tax", "Pajak Penghasilan", "所得稅", "आय कर"),
    10: ("Jail", "Penjara", "監獄", "जेल"),
    20: ("Third Corner", "Sudut Ketiga", "第三個角落", "तीसरा कोना"),
    30: ("Go to Jail", "Masuk Penjara", "進監獄", "जेल जाओ"),
    38: ("Luxury Tax", "Pajak Barang Mewah", "奢侈稅", "विलासिता कर"),
}
"""Corners and taxes. Square 20 is named by what it does in `THIRD_CORNERS`."""

CHANCE_NAMES: Final[_Names] = ("Chance", "Peluang", "機會", "चांस")
"""Name of the six Chance squares."""

THIRD_CORNERS: Final[tuple[_Names, ...]] = (
    ("Rest Corner", "Sudut Istirahat", "休息格", "विश्राम स्थल"),
    ("Jackpot", "Jackpot", "大獎", "जैकपॉट"),
    ("Temple of the Wealth God", "Kelenteng Dewa Rezeki", "財神廟", "धन देवता मंदिर"),
)
"""Square 20 by what it does: rest, wager, temple (CORNER-1 .. CORNER-3)."""

CARDS: Final[dict[str, _Names]] = {
    "advance_start": ("Forward to Start", "Maju ke Start", "前進到起點", "प्रारंभ तक आगे बढ़ें"),
    "year_end_bonus": ("Year-end bonus", "Bonus akhir tahun", "年終獎金", "वर्षांत बोनस"),
    "repairs": ("Building repairs", "Perbaikan bangunan", "房屋修繕", "इमारतों की मरम्मत"),
    "nearest_station": (
        "Forward to the nearest station",
        "Maju ke stasiun terdekat",
        "前進到最近的車站",
        "निकटतम स्टेशन तक आगे बढ़ें",
    ),
    "birthday": ("Birthday", "Ulang tahun", "過生日", "जन्मदिन"),
    "medical_bill": ("Medical bill", "Tagihan rumah sakit", "醫療帳單", "अस्पताल का बिल"),
    "to_square_24": ("Forward to {24}", "Maju ke {24}", "前進到{24}", "{24} तक आगे बढ़ें"),
    "scratch_win": (
        "Scratch card win",
        "Menang kartu gosok",
        "刮刮樂中獎",
        "स्क्रैच कार्ड में इनाम",
    ),
    "go_to_jail": ("Straight to jail", "Langsung ke penjara", "直接進監獄", "सीधे जेल जाएँ"),
    "nearest_utility": (
        "Forward to the nearest utility",
        "Maju ke utilitas terdekat",
        "前進到最近的公用事業",
        "निकटतम उपयोगिता तक आगे बढ़ें",
    ),
    "charity_dinner": ("Charity dinner", "Jamuan amal", "慈善晚宴", "चैरिटी डिनर"),
    "back_three": ("Back three squares", "Mundur tiga petak", "後退三格", "तीन खाने पीछे हटें"),
    "dividend": ("Share dividend", "Dividen saham", "股利入帳", "शेयरों पर लाभांश"),
    "to_square_11": ("Forward to {11}", "Maju ke {11}", "前進到{11}", "{11} तक आगे बढ़ें"),
    "tax_audit": ("Tax audit", "Pemeriksaan pajak", "國稅局查帳", "आयकर विभाग की जाँच"),
    "to_square_39": ("Forward to {39}", "Maju ke {39}", "前進到{39}", "{39} तक आगे बढ़ें"),
}
"""The cards by id; a number in braces stands for the name of that square."""

RENAMED_CARDS: Final[dict[str, dict[str, _Names]]] = {
    # CHANCE-7
    "halal": {
        "scratch_win": ("Business booms", "Usaha laris manis", "生意興隆", "कारोबार में बरकत"),
        "birthday": (
            "A wedding in the family",
            "Pernikahan di keluarga",
            "家裡辦喜事",
            "परिवार में शादी",
        ),
        "charity_dinner": (
            "A feast for the neighbours",
            "Kenduri untuk tetangga",
            "作東宴請鄰居",
            "पड़ोसियों की दावत",
        ),
    },
    # CHANCE-8
    "fortune": {
        "year_end_bonus": (
            "Year-end bonus: the wealth god comes",
            "Bonus akhir tahun: Dewa Rezeki datang",
            "年終獎金：財神到",
            "वर्षांत बोनस: धन देवता का आगमन",
        ),
        "tax_audit": (
            "Tax audit: the misfortune god comes",
            "Pemeriksaan pajak: Dewa Sial datang",
            "國稅局查帳：衰神到",
            "आयकर विभाग की जाँच: दुर्भाग्य देवता का आगमन",
        ),
        "charity_dinner": (
            "Lucky red packet",
            "Angpau adu untung",
            "拼手氣紅包",
            "किस्मत का लाल लिफ़ाफ़ा",
        ),
    },
}
"""Cards that a deck calls otherwise, by deck and id."""
