"""The theme `world`: invented streets, each colour group a quarter. Rows: en, id, zh-Hant, hi."""

from typing import Final

from opolyx_rules.content.themes.theme import Names, Theme, make_theme

_PROPERTIES: Final[dict[int, Names]] = {
    # Brown, the potters
    1: ("Potter's Row", "Gang Gerabah", "陶匠巷", "कुम्हार बस्ती"),
    3: ("Brick Kiln Lane", "Jalan Batu Bata", "磚窯路", "ईंट-भट्ठा गली"),
    # Sky, the seaside
    6: ("Seashell Quay", "Dermaga Kerang", "貝殼碼頭", "सीपी घाट"),
    8: ("Saltpan Walk", "Jalan Tambak Garam", "鹽田步道", "नमक-क्यारी पथ"),
    9: ("Lighthouse Point", "Tanjung Mercusuar", "燈塔岬", "प्रकाशस्तंभ तट"),
    # Pink, the flowers
    11: ("Lotus Court", "Taman Teratai", "蓮花苑", "कमल कुंज"),
    13: ("Jasmine Terrace", "Teras Melati", "茉莉坊", "चमेली बाग़"),
    14: ("Rosewater Garden", "Kebun Air Mawar", "玫瑰露花園", "गुलाबजल वाटिका"),
    # Orange, the spices
    16: ("Cinnamon Street", "Jalan Kayu Manis", "肉桂街", "दालचीनी गली"),
    18: ("Clove Street", "Jalan Cengkih", "丁香街", "लौंग गली"),
    19: ("Saffron Market", "Pasar Safron", "番紅花市集", "केसर बाज़ार"),
    # Red, the lights
    21: ("Lantern Alley", "Gang Lampion", "燈籠巷", "कंदील गली"),
    23: ("Ember Square", "Alun-Alun Bara", "炭火廣場", "अंगार चौक"),
    24: ("Firework Arcade", "Arkade Kembang Api", "煙火長廊", "फुलझड़ी आर्केड"),
    # Yellow, the sun
    26: ("Sunfield Road", "Jalan Ladang Surya", "晴田路", "धूप मार्ग"),
    27: ("Sunflower Avenue", "Jalan Bunga Matahari", "葵花大道", "सूरजमुखी पथ"),
    29: ("Honeycomb Hill", "Bukit Sarang Madu", "蜂巢丘", "मधु पहाड़ी"),
    # Green, the trees
    31: ("Pine Wood Drive", "Jalan Hutan Pinus", "松林路", "चीड़ वन मार्ग"),
    32: ("Bamboo Grove", "Rumpun Bambu", "竹林里", "बाँसवाड़ी"),
    34: ("Banyan Crescent", "Lingkar Beringin", "榕蔭環路", "बरगद मोड़"),
    # Blue, the night
    37: ("Sapphire Bay", "Teluk Safir", "藍寶石灣", "नीलम खाड़ी"),
    39: ("Starlight Tower", "Menara Cahaya Bintang", "星光塔", "सितारा मीनार"),
    # Stations
    5: ("Harbour Station", "Stasiun Pelabuhan", "港口車站", "बंदरगाह स्टेशन"),
    15: ("Valley Station", "Stasiun Lembah", "山谷車站", "घाटी स्टेशन"),
    25: ("Summit Station", "Stasiun Puncak", "峰頂車站", "शिखर स्टेशन"),
    35: ("Island Station", "Stasiun Pulau", "海島車站", "द्वीप स्टेशन"),
    # Utilities
    12: ("Windmill Power", "Listrik Kincir Angin", "風車電力", "पवनचक्की बिजली"),
    28: ("Clear Spring Water", "Air Sumber Jernih", "清泉自來水", "झरना जल"),
}

WORLD: Final[Theme] = make_theme("world", _PROPERTIES)
"""The board of all rulesets but Fortune's."""
