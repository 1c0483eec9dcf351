"""The theme `fortune`: invented Chinese companies, each colour group a trade.

Rows: en, id, zh-Hant, hi. The Chinese names come first in thought; the others say their sense.
"""

from typing import Final

from opolyx_rules.content.themes.theme import Names, Theme, make_theme

_PROPERTIES: Final[dict[int, Names]] = {
    # Brown, tea and snacks
    1: ("Roof Sparrow Tea", "Teh Pipit Genting", "瓦雀茶舖", "गौरैया चायघर"),
    3: ("Stove Cat Tofu", "Tahu Kucing Tungku", "灶貓豆花", "बिल्ली मौसी टोफ़ू"),
    # Sky, getting about
    6: ("Cloud Otter Bikes", "Sepeda Berang-Berang Awan", "雲獺單車", "बादल ऊदबिलाव साइकिल"),
    8: ("Wind Kite Travel", "Wisata Layang-Layang Angin", "風鳶旅行", "पवन पतंग ट्रैवल्स"),
    9: ("Mist Bridge Inns", "Penginapan Jembatan Kabut", "霧橋客棧", "धुंध सेतु सराय"),
    # Pink, finery
    11: ("Peach Pillow Embroidery", "Bordir Bantal Persik", "桃枕繡坊", "आड़ू तकिया कढ़ाईघर"),
    13: ("Plum Mist Cosmetics", "Kosmetik Kabut Prem", "梅霧胭脂", "आलूचा शृंगार"),
    14: ("Butterfly Twig Silks", "Sutra Kupu-Kupu Ranting", "蝶枝綢莊", "तितली टहनी रेशम भंडार"),
    # Orange, restaurants
    16: ("Lion Pepper Hotpot", "Hotpot Cabai Singa", "獅椒火鍋", "शेर मिर्च हॉटपॉट"),
    18: ("Moon Hearth Dim Sum", "Dimsum Tungku Bulan", "月灶點心", "चाँद चूल्हा डिम सम"),
    19: ("Flute Whale Seafood", "Seafood Paus Seruling", "笛鯨海鮮", "बाँसुरी व्हेल सीफ़ूड"),
    # Red, shops and parcels
    21: ("Hundred Bags Bazaar", "Pasar Seratus Karung", "百袋集市", "सौ झोला बाज़ार"),
    23: ("Lantern Moth Express", "Kurir Ngengat Lampion", "燈蛾快遞", "परवाना कूरियर"),
    24: ("Ringing Gong Stores", "Toserba Gong Nyaring", "響鑼百貨", "टनटन घंटा भंडार"),
    # Yellow, films and money
    26: ("Eaves Moon Pictures", "Film Bulan Teritisan", "簷月影業", "छज्जे का चाँद फ़िल्म्स"),
    27: ("Abacus Bead Bank", "Bank Manik Sempoa", "算珠錢莊", "गिनतारा बैंक"),
    29: ("Grain Lantern Securities", "Sekuritas Lentera Padi", "穗燈證券", "धान दीप सिक्योरिटीज़"),
    # Green, technology
    31: (
        "Fern Core Semiconductors",
        "Semikonduktor Inti Pakis",
        "蕨芯半導體",
        "फ़र्न सेमीकंडक्टर",
    ),
    32: ("Inkstone Frog Games", "Gim Katak Batu Tinta", "硯蛙遊戲", "दवात मेंढक गेम्स"),
    34: ("Jade Cicada Cloud", "Komputasi Awan Tonggeret Giok", "翠蟬雲端", "पन्ना झींगुर क्लाउड"),
    # Blue, the giants
    37: ("Tide Colt Motors", "Mobil Listrik Kuda Ombak", "瀾駒電動車", "लहर अश्व मोटर्स"),
    39: ("Sky Carp Aerospace", "Dirgantara Koi Langit", "霄鯉航太", "गगनमीन एयरोस्पेस"),
    # Stations
    5: ("Crane Shoal Station", "Stasiun Gosong Bangau", "鶴汀車站", "सारस तट स्टेशन"),
    15: ("Jade Curtain Station", "Stasiun Tirai Giok", "玉簾車站", "रत्न चिलमन स्टेशन"),
    25: ("Cloud Sluice Station", "Stasiun Pintu Awan", "雲閘車站", "बादल द्वार स्टेशन"),
    35: ("Star Islet Station", "Stasiun Pulau Bintang", "星渚車站", "तारा टापू स्टेशन"),
    # Utilities
    12: ("Thunder Drum Power", "Listrik Genderang Guntur", "雷鼓電力", "मेघ नगाड़ा बिजली"),
    28: ("Pebble Spring Water", "Air Sumber Kerikil", "礫泉自來水", "कंकड़ सोता जल"),
}

FORTUNE: Final[Theme] = make_theme("fortune", _PROPERTIES, myriads=True)
"""Fortune's board; its amounts in Chinese are in 萬."""
