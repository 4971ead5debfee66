-- Wireshark dissector of MRC 1.0 (Multipath Reliable Connection) and of mrclab's time trailer.
-- Written by `mrclab export wireshark`: the tables below are those that mrclab's own codecs are made
-- from (fabric/packet/header_fields.h), the rest is recorded/run/mrc_dissector.lua. Wireshark 4.0 and later.
--
--   mrc      UDP ports 4791 (RoCEv2's) and 4971, opcodes 0xC0-0xDF; everything else on port 4791 goes
--            to Wireshark's own RoCEv2 dissector
--   mrctime  the Ethernet trailer that carries fabric time, and the void frames (ethertype 0x88B5)
--            that stand for lost ones
--   mapper   UDP port 49862: probes of a mapper (fabric/probes/probe_frame.h); 49863: reports and lists
--            (fabric/probes/mapper_message.h); UDP port 862: STAMP test packets of a
--            sender (RFC 8762), which its probes may be, too
--   mrcbundle  IPv6 next header 253: several frames in one (fabric/packet/bundle.h), each dissected by itself
--   mrcnotice  UDP port 51073: notices of failures between switches (routing/notice/failure_notice.h)

--@TABLES@

-- The system's copy is loaded first, then a user's own, perhaps with the names of a fabric. Wireshark takes a
-- protocol once, so the later copy brings its names only. Scripts share no globals, but what is loaded.
if package.loaded.mrclab_take_names then
  if fabric then package.loaded.mrclab_take_names(fabric, wires, dscp_class) end
  return
end
function package.loaded.mrclab_take_names(its_fabric, its_wires, its_classes)
  fabric, wires, dscp_class = its_fabric, its_wires, its_classes
end

local mrc = Proto("mrc", "Multipath Reliable Connection")
local mrctime = Proto("mrctime", "MRC lab time trailer")

--- 2^n as an integer: where Lua tells them from floats (5.4, in Wireshark 4.4), 2 ^ 7 .. "" is "128.0".
local function two_to(n) return math.floor(2 ^ n) end

-- Proto fields out of the tables ---------------------------------------------------------------

--- First byte and number of bytes that hold a field, and its mask there (nil: all of them).
local function container(f)
  local first = math.floor(f.bit / 8)
  local count = math.floor((f.bit + f.width + 7) / 8) - first
  if f.width == 8 * count then return first, count, nil end
  return first, count, (two_to(f.width) - 1) * two_to(8 * (first + count) - f.bit - f.width)
end

local unsigned = { ProtoField.uint8, ProtoField.uint16, ProtoField.uint24, ProtoField.uint32,
                   [8] = ProtoField.uint64 }

local function proto_field(prefix, f)
  local first, count, mask = container(f)
  f.first, f.count = first, count
  local abbr = prefix .. "." .. f.name
  if f.flag then
    local words = f.names and { f.names[1], f.names[0] } or {
  "Set", "Not set" }
    return ProtoField.bool(abbr, f.label, 8 * count, words, mask, f.about)
  elseif f.signed then
    local make = count == 8 and ProtoField.int64 or ProtoField.int16
    return make(abbr, f.label, base.DEC, nil, nil, f.about)
  end
  return unsigned[count](abbr, f.label, f.hex and base.HEX or base.DEC, f.names, mask, f.about)
end

local function make_fields(proto, prefix, header, all)
  for _, f in ipairs(header.fields) do
    f.proto = proto_field(prefix, f)
    header.fields[f.name] = f
    all[#all + 1] = f.proto
  end
end

local own = {  -- what no header has as a field
  header = ProtoField.bytes("mrc.header", "Header"),
  ev = ProtoField.uint32("mrc.ev", "Entropy value", base.HEX, nil, nil,
                         "of this packet: UDP source port and IPv6 flow label"),
  path = ProtoField.string("mrc.path", "Path", base.ASCII, "plane and T0 uplink of the entropy value"),
  carrier = ProtoField.string("mrc.carrier", "uSID path", base.ASCII,
                              "what is left of the list of uSIDs in the outer destination"),
  class = ProtoField.string("mrc.class", "Traffic class", base.ASCII, "what the DSCP means in this fabric"),
  trimmed = ProtoField.bool("mrc.trimmed", "Trimmed", base.NONE, nil, nil, "a switch cut its payload"),
  length = ProtoField.uint32("mrc.payload_length", "Payload length", base.DEC, nil, nil,
                             "bytes, before it was trimmed"),
  payload = ProtoField.bytes("mrc.payload", "Payload"),
  icrc = ProtoField.uint32("mrc.icrc", "Invariant CRC", base.HEX, nil, nil, "not checked"),
  trigger = ProtoField.uint32("mrc.trigger_psn", "PSN that is answered", base.DEC),
  received = ProtoField.string("mrc.received", "PSNs received", base.ASCII, "out of the bitmap"),
  error = ProtoField.string("mrc.error", "Malformed", base.ASCII, "what contradicts itself"),
}
local all_mrc = {}
for _, field in pairs(own) do all_mrc[#all_mrc + 1] = field end
for name, header in pairs(headers) do make_fields(mrc, "mrc." .. name, header, all_mrc) end
mrc.fields = all_mrc

local valid = ProtoField.bool("mrctime.valid", "Valid", base.NONE, nil, nil,
                              "magic, version, CRC and ranges are right")
local arrival = ProtoField.int64("mrctime.arrival", "Arrives", base.DEC, nil, nil, "ps: end + flight")
local wire_name = ProtoField.string("mrctime.wire_name", "Wire", base.ASCII)
local all_time = { valid, arrival, wire_name }
make_fields(mrctime, "mrctime", trailer, all_time)
mrctime.fields = all_time

local expert_of = {
  trimmed = ProtoExpert.new("mrc.expert.trimmed", "Trimmed by a switch", expert.group.SEQUENCE,
                            expert.severity.NOTE),
  rtx = ProtoExpert.new("mrc.expert.rtx", "Retransmission", expert.group.SEQUENCE,
                        expert.severity.NOTE),
  nack = ProtoExpert.new("mrc.expert.nack", "Negative acknowledgement", expert.group.SEQUENCE,
                         expert.severity.WARN),
  mark = ProtoExpert.new("mrc.expert.mark", "The receiver asks to avoid this EV",
                         expert.group.SEQUENCE, expert.severity.CHAT),
  ports = ProtoExpert.new("mrc.expert.ports", "Port status", expert.group.SEQUENCE,
                          expert.severity.CHAT),
  malformed = ProtoExpert.new("mrc.expert.malformed", "Malformed", expert.group.MALFORMED,
                              expert.severity.ERROR),
}
local experts = {}
for _, e in pairs(expert_of) do experts[#experts + 1] = e end
mrc.experts = experts
local bad_trailer = ProtoExpert.new("mrctime.expert.bad", "Trailer is damaged",
                                    expert.group.CHECKSUM, expert.severity.ERROR)
local lost_frame = ProtoExpert.new("mrctime.expert.lost", "Stands for a frame that was lost",
                                   expert.group.SEQUENCE, expert.severity.WARN)
mrctime.experts = {
  bad_trailer, lost_frame }

-- What the layers around say -------------------------------------------------------------------

local ip6_payload, ip6_next = Field.new("ipv6.plen"), Field.new("ipv6.nxt")
local ip6_destination, ip6_flow = Field.new("ipv6.dst"), Field.new("ipv6.flow")
local ip4_length, ip4_header = Field.new("ip.len"), Field.new("ip.hdr_len")
local ip6_class, ip4_class = Field.new("ipv6.tclass.dscp"), Field.new("ip.dsfield.dscp")
local udp_length, udp_source = Field.new("udp.length"), Field.new("udp.srcport")
local kIpv6InIpv6, kIpv6Bytes, kUdpBytes = 41, 40, 8

-- A bundle has the layers of several frames: how many values of each field are of those in front of the present one.
local around = { ip6_payload, ip6_next, ip6_destination, ip6_flow, ip4_length, ip4_header, ip6_class, ip4_class,
                 udp_length, udp_source }
local in_front = {}

--- All values of a field in this frame, the outermost first.
local function values(field)
  local all = { field() }
  local skipped = in_front[field]
  if not skipped then return all end
  local own_values = {}
  for i = skipped + 1, #all do own_values[#own_values + 1] = all[i] end
  return own_values
end

local function outermost(field) return values(field)[1] end

--- What is dissected from now on is a frame of its own.
local function begin_frame()
  for _, field in ipairs(around) do in_front[field] = select("#", field()) end
end

--- Bytes behind the UDP header: before a switch trimmed it, and now. Nil where lengths contradict.
local function lengths(tvb)
  local udp = outermost(udp_length)
  if not udp then return nil end
  local original, now = udp.value - kUdpBytes, tvb:reported_len()
  local plen, next = values(ip6_payload), values(ip6_next)
  local ip4 = outermost(ip4_length)
  if #plen >= 2 and next[1].value == kIpv6InIpv6 then
    if plen[#plen].value ~= udp.value then return nil end
    now = plen[1].value - kIpv6Bytes - kUdpBytes
  elseif #plen == 1 and not ip4 and next[1].value == 17 then
    now = plen[1].value - kUdpBytes
  elseif ip4 and #plen == 0 then
    now = ip4.value - outermost(ip4_header).value - kUdpBytes
  end
  if now > original then return nil end
  return original, now
end

--- "p3/e17" of one that a hash chooses by, the two halves of which must say one plane.
local function hashed_text(ev)
  local plane, low = math.floor(ev / two_to(16)) % 256, ev % two_to(16)
  if math.floor(ev / two_to(24)) == 0xA0 and low >= 0xC000 then  -- of a flow of RoCE
    return string.format("p%d/q%d", plane, low % two_to(14))
  end
  if math.floor(ev / two_to(24)) % 64 ~= 0 or low < 0xC000 then return nil end
  if math.floor(low / two_to(10)) % 16 ~= plane then return nil end
  return string.format("p%d/%s%d", plane, ev >= 3 * two_to(30) and "f" or "e", low % two_to(10))
end

--- "p3/u1" of an entropy value; nil for one of another layout (fabric/topology/path.h).
local function path_text(ev)
  if ev >= two_to(31) then return hashed_text(ev) end
  if ev >= two_to(24) or bit.band(ev, 0xC000) ~= 0xC000 then return nil end
  local uplink = bit.band(ev, 0x3FFF)
  return string.format("p%d/%s", math.floor(ev / two_to(16)), uplink == 0x3FFF and "-" or "u" .. uplink)
end

--- Role, plane and index of a uSID in this fabric (fabric/topology/usid.h).
local function usid_fields(usid)
  local plane = math.floor(usid / two_to(fabric.plane_shift)) % fabric.planes
  local rest = usid - plane * two_to(fabric.plane_shift)
  for role, range in pairs(fabric.ranges) do
    if rest >= range.first and rest < range.first + range.count then
      return role, plane, rest - range.first
    end
  end
end

--- The name of a uSID behind the T0 `row`; `inner` is the number of the host that it must be for.
local function usid_name(usid, row, inner)
  local role, plane, index = usid_fields(usid)
  if role == "t0" then return string.format("p%d.t0-%d", plane, index), index end
  if role == "t1" or role == "t2" then return string.format("p%d.%s-%d", plane, role, index), nil end
  if role == nil then return string.format("%04x", usid), row end
  local host = row and row * fabric.hosts_per_t0 + index or inner
  local name = host and "h" .. host or string.format("downlink %d", index)
  return name .. (role == "nic" and string.format(":p%d", plane) or ":kernel"), row
end

--- "2000 1003 2001 e000" of the outer destination, with names where the fabric is known.
local function carrier_text(destinations)
  local outer = destinations[1].range
  if outer:len() ~= 16 or outer(0, 4):uint() ~= 0x5f000000 then return nil end
  local usids, names, row = {}, {}, nil
  local inner = #destinations > 1 and destinations[#destinations].range(12, 4):uint() or nil
  for offset = 4, 14, 2 do
    local usid = outer(offset, 2):uint()
    if usid == 0 then break end
    usids[#usids + 1] = string.format("%04x", usid)
    if fabric then names[#names + 1], row = usid_name(usid, row, inner) end
  end
  if #usids == 0 then return nil end
  local text = table.concat(usids, " ")
  return fabric and text .. " (" .. table.concat(names, " > ") .. ")" or text
end

-- Drawing a header -----------------------------------------------------------------------------

local function add_field(tree, f, range)
  return tree:add(f.proto, range(f.first, f.count))
end

--- Adds the header at `offset`; returns its items by name, and the offset behind it.
local function add_header(tree, name, tvb, offset)
  local header, items = headers[name], {}
  local range = tvb(offset, header.bytes)
  local branch = tree:add(own.header, range)
  branch:set_text(header.label)
  for _, f in ipairs(header.fields) do items[f.name] = add_field(branch, f, range) end
  return items, offset + header.bytes, branch
end

--- The bits of a field of this header as a number (fields of up to 32 bits).
local function value_of(name, field, tvb, offset)
  local f = headers[name].fields[field]
  return tvb(offset + f.first, f.count):bitfield(f.bit - 8 * f.first, f.width)
end

local function psn_add(psn, distance) return (psn + distance) % two_to(24) end

local function signed16(value) return value >= 0x8000 and value - 0x10000 or value end

--- PSNs of the bitmap as "6-7,9-11": `first` is that of bit 0, which is the last byte's lowest.
local function received_text(range, first)
  local parts, from = {}, nil
  for i = 0, 64 do
    local set = i < 64 and range(7 - math.floor(i / 8), 1):bitfield(7 - i % 8, 1) == 1
    if set and not from then from = i end
    if not set and from then
      local a, b = psn_add(first, from), psn_add(first, i - 1)
      parts[#parts + 1] = a == b and tostring(a) or a .. "-" .. b
      from = nil
    end
  end
  return table.concat(parts, ",")
end

-- Packets --------------------------------------------------------------------------------------

local function malformed(tree, pinfo, reason)
  local item = tree:add(own.error, reason)
  item:set_generated()
  item:add_proto_expert_info(expert_of.malformed, "MRC: " .. reason)
  return "malformed: " .. reason
end

local function annotate_ev(item, value)
  local path = path_text(value)
  if item and path then item:append_text(" (" .. path .. ")") end
end

local function write_info(tvb, tree, state)
  local offset = headers.bth.bytes
  local with_immediate = state.opcode == 0xC9 or state.opcode == 0xCB
  local early = headers.meth.bytes + (state.has_tseth and headers.tseth.bytes or 0)
  local whole = early + headers.reth.bytes + (with_immediate and headers.immdt.bytes or 0)
  local needed = offset + (state.trimmed and early or whole)
  if state.now < needed or tvb:len() < needed then return nil, "truncated_headers" end
  local padded = state.original - offset - whole - 4
  if padded < 0 then return nil, "length_mismatch" end
  if padded % 4 ~= 0 or state.pad > padded then return nil, "bad_pad" end
  local msn = value_of("meth", "msn", tvb, offset)
  local _
  _, offset = add_header(tree, "meth", tvb, offset)
  if state.has_tseth then _, offset = add_header(tree, "tseth", tvb, offset) end
  tree:add(own.length, padded - state.pad):set_generated()
  if not state.trimmed then
    _, offset = add_header(tree, "reth", tvb, offset)
    if with_immediate then _, offset = add_header(tree, "immdt", tvb, offset) end
    local present = math.min(padded - state.pad, tvb:len() - offset)
    if present > 0 then tree:add(own.payload, tvb(offset, present)) end
  end
  return string.format("msn %d len %d", msn, padded - state.pad)
end

local function sack_info(tvb, tree, offset)
  local cumulative = value_of("seth", "cack_psn", tvb, offset)
  local distance = signed16(value_of("seth", "psn_offset", tvb, offset))
  local shift = signed16(value_of("seth", "sack_offset", tvb, offset))
  local bitmap = headers.seth.fields.bitmap
  local entropy = value_of("seth", "entropy", tvb, offset)
  local mark = value_of("seth", "m", tvb, offset)
  local received = received_text(tvb(offset + bitmap.first, 8), psn_add(cumulative, shift))
  local items, behind, branch = add_header(tree, "seth", tvb, offset)
  add_header(tree, "cc_state", tvb, behind)
  annotate_ev(items.entropy, entropy)
  local info = "cum " .. cumulative
  if received ~= "" then
    branch:add(own.received, received):set_generated()
    info = info .. " +" .. received
  end
  if value_of("seth", "pr", tvb, offset) == 1 then
    info = info .. string.format(" probe %d answered", distance % two_to(16))
  else
    branch:add(own.trigger, psn_add(cumulative, distance)):set_generated()
  end
  local word = headers.seth.fields.m.names[mark]
  if mark ~= 0 and word then
    items.m:add_proto_expert_info(expert_of.mark, "SACK: " .. word)
    info = info .. " " .. word
  end
  return info
end

local function nack_info(tvb, tree, offset)
  local reason = value_of("neth", "reason", tvb, offset)
  local word = headers.neth.fields.reason.names[reason] or string.format("0x%02x", reason)
  local items = add_header(tree, "neth", tvb, offset)
  annotate_ev(items.entropy, value_of("neth", "entropy", tvb, offset))
  items.reason:add_proto_expert_info(expert_of.nack, "NACK: " .. word)
  return word
end

local function endpoint_info(name)
  return function(tvb, tree, offset)
    local op = value_of(name, "op", tvb, offset)
    local word = headers[name].fields.op.names[op]
    if not word then return nil, "unknown_opcode" end
    local items = add_header(tree, name, tvb, offset)
    if name == "eeth" or op ~= 0 then return word end
    local mask = value_of(name, "port_status_mask", tvb, offset)
    items.port_status_mask:add_proto_expert_info(expert_of.ports)
    return word .. string.format(" 0x%x", mask)
  end
end

local control = {
  [0xD1] = { { "aeth" }, function(tvb, tree, offset)
    add_header(tree, "aeth", tvb, offset)
    return "msn " .. value_of("aeth", "msn", tvb, offset)
  end },
  [0xDC] = { { "seth", "cc_state" }, sack_info },
  [0xDD] = { { "neth" }, nack_info },
  [0xDE] = { { "peth" }, function(tvb, tree, offset)
    add_header(tree, "peth", tvb, offset)
    return "id " .. value_of("peth", "probe_id", tvb, offset)
  end },
  [0xD8] = { { "erth" }, endpoint_info("erth") },
  [0xD9] = { { "eeth" }, endpoint_info("eeth") },
}

local function control_info(tvb, tree, state)
  local entry = control[state.opcode]
  if not entry then return nil, "unknown_opcode" end
  local size, offset = 0, headers.bth.bytes
  for _, name in ipairs(entry[1]) do size = size + headers[name].bytes end
  if state.original ~= offset + size + 4 or state.trimmed then return nil, "length_mismatch" end
  if state.pad ~= 0 then return nil, "bad_pad" end
  if tvb:len() < offset + size then return nil, "truncated_headers" end
  return entry[2](tvb, tree, offset)
end

--- What the outermost DSCP says: switches rewrite that one when they trim.
local function add_class(tree)
  local outer = outermost(ip6_class) or outermost(ip4_class)
  local class = outer and dscp_class[outer.value]
  if class then tree:add(own.class, class):set_generated() end
end

--- Entropy value, path and carrier, which the layers around carry.
local function add_path(tree)
  local flow, text = values(ip6_flow), ""
  local source = outermost(udp_source)
  local ev = source and source.value or 0
  if #flow > 0 then
    ev = ev + flow[#flow].value % two_to(16) * two_to(16)
  elseif outermost(ip4_length) and ev >= 0xC000 then  -- IPv4 has no room for the other half: plane and kind
    ev = ev + 3 * two_to(30) + math.floor(ev / two_to(10)) % 16 * two_to(16)
  end
  tree:add(own.ev, ev):set_generated()
  local path = path_text(ev)
  if path then
    tree:add(own.path, path):set_generated()
    text = " " .. path
  end
  local destinations = values(ip6_destination)
  local carrier = #destinations > 1 and carrier_text(destinations)
  if carrier then tree:add(own.carrier, carrier):set_generated() end
  return text
end

local opcode_title = { [0xD1] = "ACK", [0xDC] = "SACK", [0xDD] = "NACK", [0xDE] = "PROBE" }

local function title(opcode)
  local word = headers.bth.fields.opcode.names[opcode]
  return opcode_title[opcode] or (word and word:upper()) or string.format("opcode 0x%02x", opcode)
end

local function dissect_mrc(tvb, pinfo, root)
  local state = { opcode = tvb(0, 1):uint() }
  pinfo.cols.protocol = "MRC"
  local tree = root:add(mrc, tvb())
  local path = add_path(tree)
  add_class(tree)
  local bth = add_header(tree, "bth", tvb, 0)
  local dqp, psn = value_of("bth", "dqp", tvb, 0), value_of("bth", "psn", tvb, 0)
  local rtx = value_of("bth", "rtx", tvb, 0) == 1
  state.pad, state.has_tseth = value_of("bth", "pad", tvb, 0), value_of("bth", "ts", tvb, 0) == 1
  local info, problem
  state.original, state.now = lengths(tvb)
  if not state.original then
    problem = "length_mismatch"
  elseif state.now < headers.bth.bytes then
    problem = "truncated_headers"
  else
    state.trimmed = state.now < state.original
    local trimmed = tree:add(own.trimmed, state.trimmed)
    trimmed:set_generated()
    if state.trimmed then trimmed:add_proto_expert_info(expert_of.trimmed) end
    local is_write = state.opcode >= 0xC6 and state.opcode <= 0xCB
    info, problem = (is_write and write_info or control_info)(tvb, tree, state)
    if state.now == state.original and tvb:len() >= state.now and info then
      tree:add(own.icrc, tvb(state.now - 4, 4))
    end
  end
  if rtx then bth.rtx:add_proto_expert_info(expert_of.rtx) end
  if problem then info = malformed(tree, pinfo, problem) end
  local text = string.format("%s qp 0x%x psn %d %s%s%s%s", title(state.opcode), dqp, psn, info, path,
                             state.trimmed and " [trimmed]" or "", rtx and " [rtx]" or "")
  pinfo.cols.info = text
  tree:append_text(", " .. text)
end

--- Calls another dissector, which says itself what is malformed and then gives up.
local function hand_over(dissector, tvb, pinfo, root)
  local ok, consumed = pcall(dissector.call, dissector, tvb, pinfo, root)
  return ok and consumed or tvb:len()
end

local ports = DissectorTable.get("udp.port")
local rocev2 = ports:get_dissector(4791)  -- Wireshark's own; what is no MRC stays with it

function mrc.dissector(tvb, pinfo, root)
  if tvb:len() >= headers.bth.bytes and tvb(0, 1):bitfield(0, 3) == 6 then
    dissect_mrc(tvb, pinfo, root)
    return tvb:len()
  end
  return hand_over(rocev2 or Dissector.get("data"), tvb, pinfo, root)
end

ports:add(4791, mrc)
ports:add(4971, mrc)

-- The time trailer and void frames -------------------------------------------------------------

local crc_table = {}
for i = 0, 255 do
  local value = i
  for _ = 1, 8 do
    local odd = bit.band(value, 1) == 1
    value = bit.rshift(value, 1)
    if odd then value = bit.bxor(value, 0xEDB88320) end
  end
  crc_table[i] = value
end

--- CRC-32 of IEEE 802.3.
local function crc32(bytes, count)
  local crc = bit.bnot(0)
  for i = 0, count - 1 do
    crc = bit.bxor(bit.rshift(crc, 8), crc_table[bit.band(bit.bxor(crc, bytes:get_index(i)), 0xFF)])
  end
  return bit.bnot(crc)
end

local kVoidPrelude = 16

--- Where the trailer of an Ethernet frame starts: behind what the lengths say, or at its end where they say more
--- than there is, because the payload is elided.
local function trailer_offset(tvb)
  if tvb:len() < kVoidPrelude + trailer.bytes then return nil end
  local ethertype, offset = tvb(12, 2):uint(), nil
  if ethertype == 0x88B5 then
    local count = tvb(14, 2):uint()
    if count <= 128 then offset = kVoidPrelude + count end
  elseif ethertype == 0x86DD and tvb(14, 1):bitfield(0, 4) == 6 then
    offset = 14 + kIpv6Bytes + tvb(18, 2):uint()
  end
  if offset and ethertype ~= 0x88B5 then offset = math.min(offset, tvb:len() - trailer.bytes) end
  if offset and offset + trailer.bytes <= tvb:len() then return offset end
end

local function is_sane(range)
  local f = trailer.fields
  local function int64(name) return range(f[name].first, 8):int64() end
  local zero = Int64(0)
  local from, to, flight = int64("start"), int64("end"), int64("flight")
  local crc = range(f.crc.first, 4):uint()
  local lost = range(f.lost.first, 1):uint()
  for i, wanted in pairs(trailer.constants) do
    if range(i, 1):uint() ~= wanted then return false end
  end
  return bit.tobit(crc) == bit.tobit(crc32(range:bytes(), f.crc.first)) and f.lost.names[lost] ~= nil
    and (lost ~= 0) == (range(f.void.first, 1):uint() % 2 == 1)
    and from >= zero and to >= from and flight >= zero
    and Int64.max() - flight > to
end

local function in_us(ps) return string.format(" (%.6f us)", ps:tonumber() / 1e6) end

local last_bundle  -- the number of its packet

local function dissect_trailer(tvb, pinfo, root)
  local offset = trailer_offset(tvb)
  if not offset or tvb(offset, 4):uint() ~= trailer.magic then return end
  local range = tvb(offset, trailer.bytes)
  local tree = root:add(mrctime, range)
  local items = {}
  for _, f in ipairs(trailer.fields) do
    items[f.name] = add_field(tree, f, range)
    if f.signed then items[f.name]:append_text(in_us(range(f.first, 8):int64())) end
  end
  local f = trailer.fields
  local ok = is_sane(range)
  local item = tree:add(valid, ok)
  item:set_generated()
  if not ok then
    item:add_proto_expert_info(bad_trailer)
    return
  end
  local ends = range(f["end"].first, 8):int64()
  local at = ends + range(f.flight.first, 8):int64()
  tree:add(arrival, at):append_text(in_us(at)):set_generated()
  local wire = range(f.wire.first, 4):uint()
  local name = wires[wire]
  if name then tree:add(wire_name, name):set_generated() end
  local lost = range(f.lost.first, 1):uint()
  if lost ~= 0 then
    items.lost:add_proto_expert_info(lost_frame, "Lost: " .. (f.lost.names[lost] or lost))
    pinfo.cols.info:prepend("[lost: " .. (f.lost.names[lost] or lost) .. "] ")
  end
  tree:append_text(string.format(", wire %s, sequence %s", name or wire,
                                 tostring(range(f.sequence.first, 8):uint64())))
end

function mrctime.dissector(tvb, pinfo, root)
  if pinfo.number ~= last_bundle then dissect_trailer(tvb, pinfo, root) end
end

register_postdissector(mrctime)

--- A void frame: the first bytes of the frame that it stands for.
local void = Proto("mrcvoid", "MRC lab void frame")
local void_count = ProtoField.uint16("mrcvoid.count", "Bytes of the lost frame")
void.fields = { void_count }

function void.dissector(tvb, pinfo, root)
  pinfo.cols.protocol = "MRC void"
  if tvb:len() < 2 then return end
  local count = tvb(0, 2):uint()
  root:add(void, tvb(0, math.min(tvb:len(), 2 + count))):add(void_count, tvb(0, 2))
  if count > 0 and count <= 128 and tvb:len() >= 2 + count then
    hand_over(Dissector.get("eth_withoutfcs"), tvb(2, count):tvb(), pinfo, root)
  end
end

DissectorTable.get("ethertype"):add(0x88B5, void)

--- Several frames that crossed a wire together, because nobody was known to listen: each with its own trailer.
local bundle = Proto("mrcbundle", "MRC lab bundle")
local bundle_frames = ProtoField.uint16("mrcbundle.frames", "Frames")
local bundle_length = ProtoField.uint16("mrcbundle.length", "Length of the frame")
bundle.fields = { bundle_frames, bundle_length }
local kMostInBundle = 256

--- Where the frames are, as far as the capture has them; nil if the lengths do not fit.
local function frames_of_bundle(tvb)
  local frames, offset = {}, 0
  while offset < tvb:reported_len() do
    if offset + 2 >= tvb:len() and tvb:len() < tvb:reported_len() then break end  -- cut there
    if #frames == kMostInBundle or offset + 2 > tvb:len() then return nil end
    local length = tvb(offset, 2):uint()
    if length < 14 or offset + 2 + length > tvb:reported_len() then return nil end
    frames[#frames + 1] = { offset + 2, math.min(length, tvb:len() - offset - 2) }
    offset = offset + 2 + length
  end
  return frames
end

function bundle.dissector(tvb, pinfo, root)
  local frames = frames_of_bundle(tvb)
  if not frames then return 0 end
  last_bundle = nil
  local tree = root:add(bundle, tvb())
  tree:add(bundle_frames, #frames):set_generated()
  local infos = {}
  for i, frame in ipairs(frames) do
    local branch = tree:add(bundle, tvb(frame[1], frame[2]), "Frame " .. i)
    branch:add(bundle_length, tvb(frame[1] - 2, 2))
    local whole = tvb(frame[1], frame[2]):tvb()
    begin_frame()
    hand_over(Dissector.get("eth_withoutfcs"), whole, pinfo, branch)
    dissect_trailer(whole, pinfo, branch)
    infos[i] = tostring(pinfo.cols.info)
  end
  in_front = {}
  last_bundle = pinfo.number
  pinfo.cols.protocol = "MRC bundle"
  pinfo.cols.info = #frames .. " frames: " .. table.concat(infos, " | ")
  return tvb:len()
end

DissectorTable.get("ip.proto"):add(253, bundle)

--- A switch reports to its neighbours which prefixes it has lost all ways to, or has back.
local notice = Proto("mrcnotice", "MRC lab failure notice")
local kNoticePort, kNoticeHead, kPrefixBytes, kMostPrefixes = 51073, 9, 17, 32
local notice_types = { [3] = "failure detected", [4] = "failure eliminated" }
local notice_fields = {
  type = ProtoField.uint8("mrcnotice.type", "Type", base.DEC, notice_types),
  version = ProtoField.uint8("mrcnotice.version", "Version", base.DEC, nil, 0xf0),
  metric = ProtoField.uint8("mrcnotice.metric", "Metric", base.DEC, nil, nil, "255: all is lost"),
  parameters = ProtoField.uint8("mrcnotice.parameters", "Parameters", base.HEX, nil, nil, "0x80: prefixes"),
  sequence = ProtoField.uint32("mrcnotice.sequence", "Sequence number", base.DEC),
  count = ProtoField.uint8("mrcnotice.count", "Prefixes", base.DEC),
  length = ProtoField.uint8("mrcnotice.prefix_length", "Prefix length", base.DEC),
  prefix = ProtoField.ipv6("mrcnotice.prefix", "Prefix"),
}
local all_notice = {}
for _, field in pairs(notice_fields) do all_notice[#all_notice + 1] = field end
notice.fields = all_notice

function notice.dissector(tvb, pinfo, root)
  if tvb:len() < kNoticeHead then return 0 end
  pinfo.cols.protocol = "MRC notice"
  local tree = root:add(notice, tvb())
  tree:add(notice_fields.type, tvb(0, 1))
  tree:add(notice_fields.version, tvb(1, 1))
  tree:add(notice_fields.metric, tvb(2, 1))
  tree:add(notice_fields.parameters, tvb(3, 1))
  tree:add(notice_fields.sequence, tvb(4, 4))
  tree:add(notice_fields.count, tvb(8, 1))
  local text = notice_types[tvb(0, 1):uint()] or "unknown"
  local offset = kNoticeHead
  for _ = 1, math.min(tvb(8, 1):uint(), kMostPrefixes) do
    if tvb:len() < offset + kPrefixBytes then break end
    tree:add(notice_fields.length, tvb(offset, 1))
    tree:add(notice_fields.prefix, tvb(offset + 1, 16))
    text = string.format("%s %s/%d", text, tostring(tvb(offset + 1, 16):ipv6()), tvb(offset, 1):uint())
    offset = offset + kPrefixBytes
  end
  pinfo.cols.info = text
end

DissectorTable.get("udp.port"):add(kNoticePort, notice)

--- A mapper's probe, which comes back to its sender as it was sent.
local mapper = Proto("mapper", "MRC lab mapper probe")
local all_mapper = {}
local probe_carrier = ProtoField.string("mapper.carrier", "uSID path", base.ASCII,
                                        "what is left of the list of uSIDs in the outer destination")
all_mapper[1] = probe_carrier
for name, header in pairs(probes) do make_fields(mapper, "mapper." .. name, header, all_mapper) end
mapper.fields = all_mapper

local function dissect_probe(name, title)
  local header = probes[name]
  return function(tvb, pinfo, root)
    pinfo.cols.protocol = title
    local tree = root:add(mapper, tvb())
    tree:set_text(header.label)
    local text = ""
    for _, f in ipairs(header.fields) do  -- a trimmed one ends early
      if f.first + f.count <= tvb:len() then
        local item = tree:add(f.proto, tvb(f.first, f.count))
        if f.name == "kind" or f.name == "plane" or f.name == "uplink" or f.name:find("^seq") then
          local value = tvb(f.first, f.count):bitfield(f.bit - 8 * f.first, f.width)
          text = text .. " " .. f.name .. " " .. (f.names and f.names[value] or value)
        end
        if f.signed then item:append_text(string.format(" (%.6f us)", tvb(f.first, 8):int64():tonumber() / 1e6)) end
      end
    end
    local destinations = values(ip6_destination)
    local carrier = #destinations > 1 and carrier_text(destinations)
    if carrier then tree:add(probe_carrier, carrier):set_generated() end
    pinfo.cols.info = title .. text .. (carrier and " " .. carrier or "")
    return tvb:len()
  end
end

--- What agents and their collector send each other: a header, then two bits for each probe, or a part each.
local function dissect_message(tvb, pinfo, root)
  local header, part = probes.message, probes.part
  if tvb:len() < header.bytes then return 0 end
  pinfo.cols.protocol = "MAPPER"
  local tree = root:add(mapper, tvb())
  tree:set_text(header.label)
  local is_list, count, text = false, 0, ""
  for _, f in ipairs(header.fields) do
    tree:add(f.proto, tvb(f.first, f.count))
    local value = tvb(f.first, math.min(f.count, 4)):bitfield(f.bit - 8 * f.first, math.min(f.width, 32))
    if f.name == "kind" then
      is_list = value == 1
      text = f.names and f.names[value] or tostring(value)
    end
    if f.name == "count" then count = value end
  end
  local offset = header.bytes
  while is_list and count > 0 and offset + part.bytes <= tvb:len() do
    local branch = tree:add(tvb(offset, part.bytes), part.label)
    for _, f in ipairs(part.fields) do
      branch:add(f.proto, tvb(offset + f.first, f.count))
      local value = tvb(offset + f.first, f.count):bitfield(f.bit - 8 * f.first, f.width)
      text = text .. " " .. (f.names and f.names[value] or value)
    end
    offset, count = offset + part.bytes, count - 1
  end
  pinfo.cols.info = text
  return tvb:len()
end

--- A protocol has one dissector function, and the port of the packet chooses.
local own_probe, stamp_probe = dissect_probe("probe", "PROBE"), dissect_probe("stamp", "STAMP")
local kProbePort, kStampPort, kMapperPort = 49862, 862, 49863
function mapper.dissector(tvb, pinfo, root)
  if pinfo.dst_port == kMapperPort then return dissect_message(tvb, pinfo, root) end
  if pinfo.dst_port ~= kStampPort then
    if tvb:len() < 4 or tvb(0, 4):uint() ~= probes.probe.magic then return 0 end
    return own_probe(tvb, pinfo, root)
  end
  return stamp_probe(tvb, pinfo, root)
end

DissectorTable.get("udp.port"):add(kProbePort, mapper)
DissectorTable.get("udp.port"):add(kStampPort, mapper)
DissectorTable.get("udp.port"):add(kMapperPort, mapper)
