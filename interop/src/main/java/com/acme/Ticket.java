package com.acme;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonPropertyOrder;
import java.io.Serializable;

@JsonPropertyOrder({"subject", "number"})
public class Ticket implements Serializable {
    private static final long serialVersionUID = 1L;

    @JsonProperty("ticket_no")
    private int number;
    private String subject;
    @JsonIgnore
    private String remark;

    public Ticket() {
    }

    public Ticket(int number, String subject, String remark) {
        this.number = number;
        this.subject = subject;
        this.remark = remark;
    }
}
